import { ConfigError, shown } from "../../errors.js";
import { compileMatch } from "../../policy/matching/match.js";
import { pathReadings } from "../../policy/matching/path.js";
import type { Subject } from "../../subject.js";
import type { ParsedOptions } from "./options.js";

/** Whether a path is limited at all: `only` and `except` by whole segments of the path as servers read it. */
export function whereLimited({ only, except }: ParsedOptions): (path: string) => boolean {
  if (only === undefined && except === undefined) return () => true;
  for (const [name, paths] of Object.entries({ only, except })) mayBePaths(name, paths);
  const matches = compileMatch(
    { ...(only !== undefined && { only }), ...(except !== undefined && { except }) },
    "apiThrottling",
  );
  // Paths alone are asked about, so nothing else of the request is needed.
  return (path) => matches({ path } as Subject, pathReadings(path));
}

function mayBePaths(name: string, paths: unknown): void {
  if (paths === undefined || [paths].flat().every((path) => typeof path === "string")) return;
  throw new ConfigError(
    "TG_PRESET_OPTION",
    `apiThrottling.${name}`,
    `${shown(paths)} is no path.`,
    'Write "/api/v1", or a list of such.',
  );
}
