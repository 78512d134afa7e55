const units = [
  [86_400_000, "day"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
] as const;

/** `3 min`, `2 days`: the largest unit of which there are at least two, or one. */
export function span(ms: number): string {
  if (!Number.isFinite(ms)) return "for ever";
  if (ms < 1000) return `${Math.max(0, Math.ceil(ms))} ms`;
  const [unit, name] = units.find(([each]) => ms >= each * 2 || ms === each) ?? units[3];
  const count = Math.round(ms / unit);
  return `${count} ${name === "day" && count !== 1 ? "days" : name}`;
}

/** `in 3 min`, `2 days ago`. */
export function relative(at: number, now: number = Date.now()): string {
  if (Math.abs(at - now) < 1000) return "now";
  return at > now ? `in ${span(at - now)}` : `${span(now - at)} ago`;
}

const timeNames = new Set([
  "at",
  "since",
  "until",
  "heldUntil",
  "startedAt",
  "pulledAt",
  "readAt",
  "holdOffUntil",
  "createdAt",
  "lastUsedAt",
  "refusedAt",
]);

/** What the server says, with its times written out: programs should not have to guess the unit. */
export function withIsoTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withIsoTimes);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      timeNames.has(name) && typeof each === "number" ? iso(each) : withIsoTimes(each),
    ]),
  );
}

/** `2026-01-31T12:00:00.000Z`, or the number if it is no time. */
export function iso(ms: number): string | number {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? ms : date.toISOString();
}
