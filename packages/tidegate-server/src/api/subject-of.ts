import type { Subject } from "tidegate";
import type { z } from "zod";
import type { subjectBody } from "./shapes.js";

/** The facts that were given, and no others. */
export function subjectOf({ subject }: Pick<z.output<typeof subjectBody>, "subject">): Partial<Subject> {
  const { headers, ...facts } = subject;
  const given = Object.fromEntries(
    Object.entries(facts).filter(([, fact]) => fact !== undefined),
  ) as Partial<Subject>;
  if (headers === undefined) return given;
  const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return { ...given, header: (name) => byName.get(name.toLowerCase()) };
}
