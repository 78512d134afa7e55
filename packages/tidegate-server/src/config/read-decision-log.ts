import { resolve } from "node:path";
import type { DecisionLogSettings } from "../settings.js";
import type { FileReader } from "./file-reader.js";
import { readFilePath } from "./read-file-path.js";

export function readDecisionLog(reader: FileReader): DecisionLogSettings | undefined {
  const given = reader.section("decisionLog");
  if (given === false) return undefined;
  const file = readFilePath(given.file, ["decisionLog", "file"], reader);
  return { ...given, file: resolve(reader.folder, file) };
}
