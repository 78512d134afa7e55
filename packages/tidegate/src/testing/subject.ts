import type { Subject } from "../subject.js";

/** A request for tests: `subjectOf("203.0.113.7", { path: "/login", headers: { cookie: "a=1" } })`. */
export function subjectOf(
  ip: string,
  facts: Partial<Omit<Subject, "header">> & { readonly headers?: Readonly<Record<string, string>> } = {},
): Subject {
  const { headers = {}, ...rest } = facts;
  const lower = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return {
    ip,
    method: "GET",
    host: "example.com",
    path: "/",
    header: (name) => lower.get(name.toLowerCase()),
    ...rest,
  };
}
