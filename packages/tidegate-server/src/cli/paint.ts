import type { Io } from "./io.js";

export type Colour = "red" | "green" | "yellow" | "bold" | "dim";

const codes: Readonly<Record<Colour, number>> = { red: 31, green: 32, yellow: 33, bold: 1, dim: 2 };

/** Colours, on a terminal that wants them; otherwise the text as it is. */
export function paint({ stdout, env }: Pick<Io, "stdout" | "env">): (colour: Colour, text: string) => string {
  const isWanted = stdout.isTTY && (env.NO_COLOR ?? "") === "" && env.TERM !== "dumb";
  return (colour, text) => (isWanted ? `\u001b[${codes[colour]}m${text}\u001b[0m` : text);
}
