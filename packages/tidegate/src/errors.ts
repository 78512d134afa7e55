/** Every error Tidegate raises carries a code (listed in docs/errors.md) and says what to do. Refused is an answer, never one of these. */
export class TidegateError extends Error {
  readonly code: string;
  readonly help: string;

  constructor(code: string, message: string, help: string, options?: { cause?: unknown }) {
    super(`${message} ${help} [${code}]`, options);
    this.name = new.target.name;
    this.code = code;
    this.help = help;
  }
}

/** A setting that can not work. Thrown when the thing is built, never later. `path` names the option, e.g. `limits[1].window`. */
export class ConfigError extends TidegateError {
  readonly path: string;

  constructor(code: string, path: string, message: string, help: string) {
    super(code, `${path}: ${message}`, help);
    this.path = path;
  }
}

/**
 * A store that did not answer as it should. `transient` is true when the same call may succeed later, `isReadable` when it
 * answers but will not write: that it answers what needs no writing is then no sign of recovery.
 */
export class StoreError extends TidegateError {
  readonly store: string;
  readonly transient: boolean;
  readonly isReadable: boolean;

  constructor(
    code: string,
    store: string,
    message: string,
    help: string,
    options: { transient: boolean; isReadable?: boolean; cause?: unknown },
  ) {
    super(code, `${store}: ${message}`, help, options);
    this.store = store;
    this.transient = options.transient;
    this.isReadable = options.isReadable ?? false;
  }
}

/** How a value looks in a message: short, printable, and never the whole of a hostile one. */
export function shown(value: unknown): string {
  if (typeof value === "string")
    return JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}...` : value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return "a function";
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === "object" && value !== null) return "an object";
  return String(value);
}
