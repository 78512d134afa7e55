import type { Act, Trace } from "tidegate/testing";

/** Leaves out acts, then checks within acts, as long as the trace still fails: what is left is what it takes. */
export async function shortest(trace: Trace, fails: (trace: Trace) => Promise<boolean>): Promise<Trace> {
  let kept = trace;
  for (let size = kept.length >> 1; size >= 1; size = size >> 1) {
    for (let at = kept.length - size; at >= 0; at -= size) {
      const fewer = [...kept.slice(0, at), ...kept.slice(at + size)];
      if (await fails(fewer)) kept = fewer;
    }
  }
  for (let at = 0; at < kept.length; at++) {
    for (const simpler of withoutOneCheck(kept[at] as Act)) {
      const fewer = kept.with(at, simpler);
      if (await fails(fewer)) {
        kept = fewer;
        at--;
        break;
      }
    }
  }
  return kept;
}

function withoutOneCheck(act: Act): Act[] {
  if (!("checks" in act) || act.checks.length < 2) return [];
  return act.checks.map((_, i) => ({ ...act, checks: act.checks.toSpliced(i, 1) }));
}
