import {
  type Bindings,
  type ChildLoggerOptions,
  type DestinationStream,
  type Logger,
  destination as openDestination,
  pino,
  stdTimeFunctions,
} from "pino";
import { printableJson, printableStart } from "../printable.js";
import type { LogLevel } from "../settings.js";
import { humanLine } from "./human-line.js";
import { loggable, withoutSecrets } from "./loggable.js";

/**
 * A log of JSON lines, on stdout unless told otherwise; on a terminal one line a person can read. Whatever is logged, by
 * whatever way, a line stays one line, printable and short, and holds no secret that can be told for one.
 */
export function openLog({ level }: { readonly level: LogLevel }, destination?: DestinationStream): Logger {
  const log = pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: loggable },
      // Errors are made loggable with everything else.
      serializers: { err: (err) => err },
      hooks: {
        logMethod(args, method) {
          const [first, ...rest] = args as unknown[];
          // pino would take the words from the error as they are.
          const whole =
            first instanceof Error
              ? [{ err: first }, ...(rest.length > 0 ? rest : [first.message])]
              : [first, ...rest];
          const shown = whole.map((each) =>
            typeof each === "string" ? printableStart(withoutSecrets(each), 1024) : each,
          );
          method.apply(this, shown as Parameters<typeof method>);
        },
        streamWrite: printableJson,
      },
    },
    destination ?? standardOutput(),
  );
  const makeChild = log.child;
  // Bindings go past the formatters.
  log.child = function child(this: Logger, bindings: Bindings, options?: ChildLoggerOptions<never>) {
    return Reflect.apply(makeChild, this, [loggable(bindings), options]);
  } as unknown as typeof makeChild;
  return log;
}

function standardOutput(): DestinationStream {
  if (process.stdout.isTTY) return { write: (line) => void process.stdout.write(humanLine(line)) };
  return openDestination({ dest: 1, sync: true });
}
