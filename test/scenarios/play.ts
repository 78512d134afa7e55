import type { Decision, Gate, Policy, Subject } from "tidegate";
import type { VirtualClock } from "tidegate/testing";
import { durationMs, durationText, type Line, type Request } from "./script.js";

/** Where a line is played. */
export interface Stage {
  readonly gate: Gate;
  readonly clock: VirtualClock;
  readonly startMs: number;
  readonly policy: (file: string) => Policy;
}

/** Plays a line and answers what the gate said, in the words of the script. */
export async function play(line: Line, stage: Stage): Promise<string | undefined> {
  stage.clock.set(stage.startMs + line.atMs);
  if (line.act) return act(line.act, stage);
  const request = line.request as Request;
  const showsLeft = line.answer?.includes(" left") === true;
  const decisions: Decision[] = [];
  for (let time = 0; time < request.times; time++) {
    stage.clock.set(stage.startMs + line.atMs + time * request.everyMs);
    decisions.push(...(await send(request, time * request.burst, stage)));
  }
  return tallied(decisions.map((decision) => told(decision, showsLeft)));
}

/** One after the other: each is answered by the app before the next is sent, unless all come at once. */
async function send(request: Request, sentBefore: number, { gate }: Stage): Promise<Decision[]> {
  const subjects = Array.from({ length: request.burst }, (_, i) => subjectOf(request, sentBefore + i + 1));
  const status = Number(request.facts.get("status") ?? 200);
  const finish = (decision: Decision) => decision.finish({ status: decision.allowed ? status : 429 });
  if (request.atOnce) {
    const decisions = await Promise.all(subjects.map((subject) => gate.decide(subject)));
    await Promise.all(decisions.map(finish));
    return decisions;
  }
  const decisions: Decision[] = [];
  for (const subject of subjects) {
    const decision = await gate.decide(subject);
    await finish(decision);
    decisions.push(decision);
  }
  return decisions;
}

function subjectOf({ method, path, facts }: Request, n: number): Subject {
  const fact = (name: string) => facts.get(name)?.replaceAll("{n}", String(n));
  return {
    ip: fact("ip") ?? "192.0.2.1",
    method,
    host: fact("host") ?? "example.test",
    path: path.replaceAll("{n}", String(n)),
    header: (name) => fact(name.toLowerCase() === "user-agent" ? "ua" : `header:${name.toLowerCase()}`),
    user: fact("user"),
    customer: fact("customer"),
    account: fact("account"),
  };
}

/** A decision in words: all of it that the client sees. */
function told({ allowed, reason, verdict, verdicts }: Decision, showsLeft: boolean): string {
  const shadows = verdicts
    .filter((other) => other.shadow && !other.allowed)
    .map(({ name }) => `, ${name} would refuse`)
    .join("");
  if (verdict === undefined || allowed) {
    const why = reason === "within-limits" ? "" : `: ${reason}`;
    const left = showsLeft && verdict ? `, ${verdict.name} has ${verdict.remaining} left` : "";
    return `${allowed ? "passes" : "refused"}${why}${left}${shadows}`;
  }
  const how = reason === "over-limit" ? "refused" : reason;
  return `${how} by ${verdict.name} for ${durationText(verdict.retryAfterMs)}${shadows}`;
}

function tallied(answers: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const answer of answers) counts.set(answer, (counts.get(answer) ?? 0) + 1);
  const [[only] = []] = counts;
  return counts.size === 1 && only !== undefined
    ? only
    : [...counts].map(([answer, count]) => `${count} ${answer}`).join("; ");
}

/** Answers the code of the error, if it was one. */
async function act(words: readonly string[], stage: Stage): Promise<string | undefined> {
  try {
    await perform(words, stage);
    return undefined;
  } catch (error) {
    if (error instanceof Error && "code" in error) return String(error.code);
    throw error;
  }
}

async function perform([verb, ...words]: readonly string[], { gate, policy }: Stage): Promise<void> {
  switch (verb) {
    case "safelist":
    case "blocklist":
      return change(gate[verb], words);
    case "customer":
      return changeCustomer(gate, words);
    case "clear":
      await gate.clear(Object.fromEntries(words.map((word) => word.split("="))));
      return;
    case "policy":
      return gate.update(policy(words[0] as string));
    default:
      throw new SyntaxError(`there is no act ${verb}`);
  }
}

async function change(
  list: Gate["safelist"],
  [what, address = "", how, time]: readonly string[],
): Promise<void> {
  if (what === "remove") {
    if (!(await list.remove(address))) throw new Error(`${address} was not listed`);
    return;
  }
  if (how === "permanent") await list.add(address, { for: how });
  else await list.add(address, time === undefined ? {} : { for: durationMs(time) });
}

async function changeCustomer(
  { customers }: Gate,
  [id = "", what, ...values]: readonly string[],
): Promise<void> {
  const isNone = values[0] === "none";
  if (what === "tier") return customers.setTier(id, isNone ? undefined : values[0]);
  const limits = values.map((value) => value.split(":").map(Number));
  return customers.setLimits(id, isNone ? undefined : Object.fromEntries(limits));
}
