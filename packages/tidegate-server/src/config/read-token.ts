import { Secret } from "../secret.js";
import type { FileReader } from "./file-reader.js";
import type { Path } from "./path.js";

/** A text that fits into a header and that nobody guesses by trying. */
export function readToken(text: string | undefined, path: Path, reader: FileReader): Secret | undefined {
  if (text === undefined) return undefined;
  if (!/^[\x21-\x7e]{8,1024}$/.test(text)) {
    reader.problems.add(path, {
      code: "TG_TOKEN",
      message: text === "" ? "The token is empty." : "This can not be a token.",
      help: "Use 8 or more printable characters without spaces; openssl rand -hex 32 makes a good one.",
    });
  }
  return new Secret(text);
}
