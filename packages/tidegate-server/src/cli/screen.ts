import type { Io } from "./io.js";

/** A terminal taken over for as long as something is watched. */
export interface Screen {
  /** Replaces what is there, without a moment of nothing. Lines that are too long or too many are cut. */
  draw(lines: readonly string[]): void;
  /** Gives the terminal back as it was. */
  close(): void;
}

const other = { in: "\u001b[?1049h", out: "\u001b[?1049l" };
const cursor = { hide: "\u001b[?25l", show: "\u001b[?25h" };
const wrapping = { off: "\u001b[?7l", on: "\u001b[?7h" };
const home = "\u001b[H";
const restOfLine = "\u001b[K";
const restOfScreen = "\u001b[J";

export function openScreen({ stdout }: Pick<Io, "stdout">): Screen {
  stdout.write(`${other.in}${cursor.hide}${wrapping.off}`);
  return {
    draw(lines) {
      const shown = lines.slice(0, stdout.rows ?? 24).map((line) => `${line}${restOfLine}`);
      stdout.write(`${home}${shown.join("\r\n")}${restOfScreen}`);
    },
    close: () => stdout.write(`${wrapping.on}${cursor.show}${other.out}`),
  };
}
