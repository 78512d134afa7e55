import { z } from "zod";

/** A map that knows its keys: others are refused, with the known ones as the message. */
export function map<Shape extends z.core.$ZodLooseShape>(shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  const known = Object.keys(shape).join(" ");
  return z.strictObject(shape, {
    error: ({ code }) => (code === "unrecognized_keys" ? known : undefined),
  });
}

/** A section of a configuration: left out, it has all its defaults. */
export function section<Shape extends z.core.$ZodLooseShape>(shape: Shape, description: string) {
  return map(shape)
    .prefault({} as never)
    .meta({ description });
}

const durationHelp = "Write a duration with its unit: 250ms, 10s, 5m, 1h, 1d or 1w.";

/** How long, as text. What it says is judged by the library's `parseDuration`. */
export function duration() {
  return z
    .string({ error: durationHelp })
    .meta({ pattern: "^\\d+(\\.\\d+)?(ms|s|m|h|d|w)$", examples: ["250ms", "10s", "5m", "1h", "1d"] });
}

/** One duration, or several that grow. */
export function durations() {
  return z.union([duration(), z.array(duration())], {
    error: "Write a duration such as 5m, or a list that grows: [1m, 5m, 1h].",
  });
}

const rateHelp = "Write a rate such as 100 per hour, 300 per 5m or 10/day.";

export function rate() {
  return z.string({ error: rateHelp }).meta({
    pattern:
      "^\\d+(\\.\\d+)?( per |/)(\\d+(\\.\\d+)?((ms|s|m|h|d|w)| (second|minute|hour|day|week)s?)|ms|s|m|h|d|w|second|minute|hour|day|week)$",
    examples: ["100 per hour", "300 per 5m", "10/day"],
  });
}

export function whole(from: number, to: number) {
  return z
    .int({ error: `Write a whole number from ${from} to ${to}.` })
    .min(from)
    .max(to);
}

export function texts(help: string) {
  return z.array(z.string({ error: help }), { error: help });
}

export function oneOrMore(help: string) {
  return z.union([z.string(), z.array(z.string())], { error: help });
}
