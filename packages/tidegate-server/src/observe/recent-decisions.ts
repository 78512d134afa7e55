import type { Gate, GateEvents, Subject, Verdict } from "tidegate";
import type { Refusal, RefusalFacts } from "../refusal.js";

/** The newest refusals of one gate, by the ids their clients were told. Bounded, oldest out first. */
export interface RecentDecisions {
  /** Undefined: it was allowed, is not of this gate, or is no longer remembered. */
  find(id: string): Refusal | undefined;
  close(): void;
}

export interface RecentDecisionsOptions {
  /** Default 10,000. */
  readonly most?: number;
  /** About so many, of all together. Default 16 MiB. */
  readonly mostBytes?: number;
}

const longestFact = 200;

export function recentDecisions(
  gate: Pick<Gate, "on">,
  options: RecentDecisionsOptions = {},
): RecentDecisions {
  const { most = 10_000, mostBytes = 16 * 1024 * 1024 } = options;
  const known = new Map<string, Refusal>();
  // Goes on behind what it gave last: a new one would pass by all that was dropped before, each time.
  const oldest = known.values();
  let bytes = 0;

  function remember({ subject, decision }: GateEvents["refused"]): void {
    const { id, reason, verdict, verdicts, listed, source, delayedMs } = decision;
    const refusal: Refusal = {
      id,
      at: Date.now(),
      reason,
      ...(verdict && { verdict }),
      verdicts,
      ...(listed && { listed }),
      source,
      delayedMs,
      about: factsOf(subject, verdicts),
    };
    known.set(id, refusal);
    bytes += bytesOf(refusal);
    while (known.size > most || (bytes > mostBytes && known.size > 1)) {
      const first = oldest.next().value as Refusal;
      known.delete(first.id);
      bytes -= bytesOf(first);
    }
  }

  const stop = gate.on("refused", remember);
  return {
    find: (id) => known.get(id),
    close() {
      stop();
      known.clear();
    },
  };
}

/** Of headers only the user agent, of the path nothing behind the `?`: the rest may be secret. */
function factsOf(subject: Subject, verdicts: readonly Verdict[]): RefusalFacts {
  const { ip, method, host, path, user, customer } = subject;
  const query = path.indexOf("?");
  const userAgent = subject.header("user-agent");
  const account = countedAccount(subject, verdicts);
  return {
    ip: cut(ip),
    method: cut(method),
    host: cut(host),
    path: cut(path, query < 0 ? path.length : query),
    ...(userAgent !== undefined && { userAgent: cut(userAgent) }),
    ...(user !== undefined && { user: cut(String(user)) }),
    ...(customer !== undefined && { customer: cut(String(customer)) }),
    ...(account !== undefined && { account: cut(account) }),
  };
}

/** What stands for the user name in basic auth is often a key to an API: unless a rule counts by it, it is not looked at further. */
function countedAccount({ account }: Subject, verdicts: readonly Verdict[]): string | undefined {
  const name = account?.trim().toLowerCase();
  if (name === undefined || name === "") return undefined;
  return verdicts.some(({ key }) => key.includes(name)) ? account : undefined;
}

/** A part of a text keeps the whole of it in memory, so it is copied. */
function cut(text: string, end: number = text.length): string {
  const most = Math.min(end, longestFact);
  return text.length <= most ? text : Buffer.from(text.slice(0, most), "utf16le").toString("utf16le");
}

/** Roughly what it keeps in memory. */
function bytesOf({ verdicts, about }: Refusal): number {
  let sum = 500 + 250 * verdicts.length;
  for (const { key } of verdicts) sum += key.length;
  for (const fact of Object.values(about)) sum += 2 * fact.length;
  return sum;
}
