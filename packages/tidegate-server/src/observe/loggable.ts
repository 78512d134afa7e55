import { printableStart } from "../printable.js";

/**
 * A value as it may stand in a log: secrets left out, texts printable and short, nothing deep, wide or of a class. What
 * is left out is named, so that nobody takes the rest for the whole.
 */
export function loggable(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const room = { values: mostValues };
  return Object.fromEntries(
    Object.entries(record(fields, 0, room)).map(([name, value]) => [
      reserved.has(name) ? `_${name}` : name,
      value,
    ]),
  );
}

/** Texts of our own that may quote somebody: credentials in URLs, tokens in queries and headers are taken out. */
export function withoutSecrets(text: string): string {
  return text
    .slice(0, longestLooked)
    .replace(/:\/\/[^\s/?#]*@/g, "://[secret]@")
    .replace(/([?&][\w-]*(?:token|key|password|passwd|secret|signature)=)[^&#\s]*/gi, "$1[secret]")
    .replace(/\b(Bearer|Basic) +[\w.~+/=-]+/gi, "$1 [secret]");
}

/** What a line has of its own: a field of the same name would contradict it. */
const reserved = new Set(["level", "time", "msg"]);

const secretName = /authorization|cookie|password|passwd|secret|token|credential|api[-_]?key/i;

const deepest = 6;
const mostFields = 50;
const mostValues = 300;
const longestText = 1024;
const longestStack = 8192;
const longestLooked = 16_384;

interface Room {
  values: number;
}

function shownValue(name: string, value: unknown, depth: number, room: Room): unknown {
  if (room.values-- <= 0) return "[more]";
  if (
    secretName.test(name) &&
    value !== undefined &&
    value !== null &&
    typeof value !== "boolean" &&
    typeof value !== "number"
  )
    return "[secret]";
  switch (typeof value) {
    case "string":
      return printableStart(withoutSecrets(value), longestText);
    case "bigint":
      return `${value}`;
    case "symbol":
      return "[symbol]";
    case "function":
      return "[function]";
    case "object":
      return value === null ? null : shownObject(name, value, depth, room);
    default:
      return value;
  }
}

function shownObject(name: string, value: object, depth: number, room: Room): unknown {
  if (value instanceof Error) return shownError(value, depth, room);
  if (depth >= deepest) return "[deep]";
  if (Array.isArray(value) || value instanceof Set) {
    const items = [...value].slice(0, mostFields).map((item) => shownValue(name, item, depth + 1, room));
    const size = Array.isArray(value) ? value.length : value.size;
    return size > mostFields ? [...items, `[${size - mostFields} more]`] : items;
  }
  if (value instanceof Map) return record(Object.fromEntries(value), depth, room);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  const kind = Object.getPrototypeOf(value)?.constructor;
  if (kind === undefined || kind === Object) return record(value as Record<string, unknown>, depth, room);
  if ("toJSON" in value && typeof value.toJSON === "function") {
    const json: unknown = value.toJSON();
    if (json !== value) return shownValue(name, json, depth + 1, room);
  }
  return `[${printableStart(String(kind.name), 60)}]`;
}

function record(
  value: Readonly<Record<string, unknown>>,
  depth: number,
  room: Room,
): Record<string, unknown> {
  const names = Object.keys(value);
  const shown = names
    .slice(0, mostFields)
    .map((name) => [printableStart(name, 100), shownField(value, name, depth + 1, room)] as const);
  if (names.length > mostFields) shown.push(["more", names.length - mostFields]);
  return Object.fromEntries(shown);
}

function shownField(
  value: Readonly<Record<string, unknown>>,
  name: string,
  depth: number,
  room: Room,
): unknown {
  try {
    return shownValue(name, value[name], depth, room);
  } catch {
    return "[unreadable]";
  }
}

/** Stacks keep their lines: JSON escapes them. */
function shownError(error: Error, depth: number, room: Room): Record<string, unknown> {
  const { name, message, stack, cause, code, help, path } = error as Error &
    Record<"code" | "help" | "path", unknown>;
  const lines = withoutSecrets(stack ?? "")
    .slice(0, longestStack)
    .split("\n");
  return {
    type: printableStart(String(name), 60),
    message: printableStart(withoutSecrets(String(message)), longestText),
    stack: lines.map((line) => printableStart(line, longestText)).join("\n"),
    ...record(
      {
        ...(code !== undefined && { code }),
        ...(help !== undefined && { help }),
        ...(path !== undefined && { path }),
      },
      depth,
      room,
    ),
    ...(cause !== undefined && depth < deepest && { cause: shownValue("cause", cause, depth + 1, room) }),
  };
}
