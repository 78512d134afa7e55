import type { DocumentedRoute, RouteFacts } from "./route-facts.js";

/** Every problem a route may answer: its own, and those that come with asking anything. */
export function problemsOf(
  { method, path, isOpen }: DocumentedRoute,
  { problems = {}, query, body, takesTag }: RouteFacts,
): Map<number, readonly string[]> {
  const isWrite = method !== "GET" && !isLook(path);
  const isSent = query !== undefined || body !== undefined || takesTag === true || isWrite;
  const found = new Map<number, Set<string>>();
  const add = (status: number, ...codes: readonly string[]): void => {
    found.set(status, new Set([...(found.get(status) ?? []), ...codes]));
  };
  if (isSent) add(400, "TG_REQUEST");
  if (isOpen === undefined) {
    add(401, "TG_ADMIN_TOKEN");
    add(403, "TG_ROLE", "TG_ORIGIN", ...(method === "GET" ? [] : ["TG_CSRF"]));
    add(429, "TG_ADMIN_TOKEN");
  } else add(403, "TG_ORIGIN");
  if (body !== undefined) add(413, "TG_REQUEST");
  add(421, "TG_HOST");
  add(500, "TG_INTERNAL", ...(isWrite ? ["TG_AUDIT"] : []));
  if (path.startsWith("/v1/")) add(503, "TG_DATA_UNREACHABLE", "TG_DATA_WRITE", "TG_DATA_CLOSED");
  for (const [status, codes] of Object.entries(problems)) add(Number(status), ...codes);
  return new Map([...found].sort(([one], [other]) => one - other).map(([status, set]) => [status, [...set]]));
}

/** Asked by POST for the sake of what is sent; nothing is changed. */
function isLook(path: string): boolean {
  return path === "/v1/explain" || path === "/v1/rehearse" || /\/(?:validate|preview)$/.test(path);
}
