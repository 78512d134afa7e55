import type { FileReader } from "./file-reader.js";
import type { Path } from "./path.js";

/** A path of a file: some text, and nothing a file system would cut it at. */
export function readFilePath(text: string, path: Path, reader: FileReader): string {
  if (text.trim() !== "" && !/[\0\r\n]|\/$/.test(text)) return text;
  reader.refuse(path, { is: "names no file.", help: "Write a path such as ./decisions.ndjson." });
  return "unnamed";
}
