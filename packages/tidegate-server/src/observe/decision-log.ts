import { parse } from "node:path";
import { Counter, type Registry } from "prom-client";
import { type Decision, type IdentityOptions, type Subject, TidegateError } from "tidegate";
import type { Log } from "../log.js";
import type { Offender } from "../offenders.js";
import type { DecisionLogSettings } from "../settings.js";
import { lineFile } from "./decision-log-file.js";
import { controlLine, decisionLine, heldLine } from "./decision-log-line.js";

/** A file of one JSON object per line, for analysis. Nobody waits for it, and nobody is refused because it can not be written. */
export interface DecisionLog {
  decision(subject: Subject, decision: Decision): void;
  /** A client is held for the edges, or for longer. */
  held(offender: Offender): void;
  /** Something else that control did. */
  control(event: Readonly<Record<string, unknown>>): void;
  /** Writes what is left. */
  close(): Promise<void>;
}

export interface DecisionLogOptions {
  readonly settings: DecisionLogSettings;
  /** Of several processes each writes its own file. */
  readonly worker?: number;
  /** How clients are named: as the edges name them. */
  readonly identity?: IdentityOptions;
  readonly log: Log;
  readonly registry?: Registry;
}

export function openDecisionLog(options: DecisionLogOptions): DecisionLog {
  const { settings, worker, identity, log, registry } = options;
  const { which, maxBytes, files } = settings;
  const file = worker === undefined ? settings.file : fileOfWorker(settings.file, worker);
  const form = identity?.fingerprint ?? "sha256";
  let droppedBefore = 0;
  const lines = lineFile({
    file,
    maxBytes,
    files,
    onProblem(cause) {
      log.error({ err: unwritable(file, cause) }, "the decision log can not be written");
    },
    onRecovered() {
      const { dropped } = lines;
      log.warn({ file, dropped: dropped - droppedBefore }, "the decision log is written again");
      droppedBefore = dropped;
    },
  });
  if (registry !== undefined) countLines(registry, lines);
  let isClosed = false;

  function add(line: () => string): void {
    if (isClosed) return;
    try {
      lines.add(line());
    } catch (error) {
      log.debug({ err: error }, "a line of the decision log could not be made");
    }
  }

  return {
    decision(subject, decision) {
      if (which === "refused" && decision.allowed) return;
      add(() => decisionLine(subject, decision, { at: Date.now(), form }));
    },
    held: (offender) => add(() => heldLine(offender, Date.now())),
    control: (event) => add(() => controlLine(event, Date.now())),
    async close() {
      isClosed = true;
      await lines.close();
    },
  };
}

/** `decisions.jsonl` of worker 2 is `decisions-2.jsonl`. */
function fileOfWorker(file: string, worker: number): string {
  const { ext } = parse(file);
  return `${file.slice(0, file.length - ext.length)}-${worker}${ext}`;
}

function countLines(registry: Registry, lines: { readonly written: number; readonly dropped: number }): void {
  const told = { written: 0, dropped: 0 };
  new Counter({
    name: "tidegate_decision_log_lines_total",
    help: "Lines of the decision log that were written, and those dropped because it could not be.",
    labelNames: ["outcome"],
    registers: [registry],
    collect() {
      for (const outcome of ["written", "dropped"] as const) {
        const count = lines[outcome];
        this.inc({ outcome }, count - told[outcome]);
        told[outcome] = count;
      }
    },
  });
}

function unwritable(file: string, cause: unknown): TidegateError {
  return new TidegateError(
    "TG_DECISION_LOG",
    `${file} can not be written: ${cause instanceof Error ? cause.message : cause}.`,
    "Requests are answered all the same; lines that do not fit are dropped and counted. See that the folder may be written and the disk is not full.",
    { cause },
  );
}
