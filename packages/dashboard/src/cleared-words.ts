import type { ClearAnswer } from "./types.ts";
import { span, visible } from "./words.ts";

/** What was forgotten, and plainly what was not. */
export function clearedWords({
  cleared,
  unknown,
  remembered = 0,
  edges = [],
  holdOffUntil,
}: ClearAnswer): string {
  const wholly = namesOf(cleared.filter(({ missing }) => missing === undefined));
  const partly = cleared.filter(({ missing }) => missing !== undefined);
  const as =
    remembered === 0
      ? ""
      : `, also as ${remembered} refused ${remembered === 1 ? "request" : "requests"} of it`;
  const said = [
    wholly.length === 0 ? "Forgotten under no rule as a whole" : `Forgotten under ${wholly.join(", ")}${as}`,
    ...partly.map(
      ({ rule, missing = [] }) =>
        `Under ${visible(rule)} only what came without ${missing.map(factWords).join(", ")}: the rest stays`,
    ),
    ...(unknown.length === 0
      ? []
      : [`Not reached: ${unknown.map(visible).join(", ")}, which count by what is not known of it here`]),
    ...(edges.length === 0 ? [] : [`Taken off ${edges.length} at the edges`]),
    ...(holdOffUntil === undefined ? [] : [`It goes to no edge for ${span(holdOffUntil - Date.now())}`]),
  ];
  return `${said.join(". ")}.`;
}

function namesOf(cleared: ClearAnswer["cleared"]): string[] {
  return [...new Set(cleared.map(({ rule }) => visible(rule)))];
}

function factWords(fact: string): string {
  const header = /^header:(.*)$/s.exec(fact)?.[1];
  if (header === undefined) return `its ${visible(fact)}`;
  return header === "user-agent" ? "its user agent" : `its header ${visible(header)}`;
}
