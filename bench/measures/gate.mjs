import { randomWalk } from "../lib/keys.mjs";
import { oneByOne } from "../lib/load.mjs";
import { makeSubjects } from "../lib/subjects.mjs";

export const id = "gate";
export const title = "gate.decide, memory, 10k clients";
export const contestants = ["tidegate.gate-one", "tidegate.gate-ten"];
export const metrics = ["rate", "nanos"];
const CLIENTS = 10_000;

/** A gate that lets nobody pass, or judges by other rules than it is meant to, would be measured in vain. */
async function verify(call, subject, contestant) {
  const { allowed, verdicts } = await call(subject);
  const rules = new Set(verdicts.map(({ rule }) => rule)).size;
  const expected = contestant.endsWith("gate-ten") ? 3 : 1;
  if (!allowed || rules !== expected) throw new Error(`${rules} rules judged, allowed: ${allowed}`);
}

export async function setup({ make, sampleMs, contestant }) {
  const subjects = makeSubjects(CLIENTS);
  const walk = randomWalk(CLIENTS, 1 << 20);
  const gate = await make();
  for (const subject of subjects) await verify(gate.call, subject, contestant);
  for (let i = 0; i < 3; i++) await oneByOne(gate, subjects, walk, sampleMs);
  return {
    async sample() {
      const rate = await oneByOne(gate, subjects, walk, sampleMs);
      return { rate, nanos: 1e9 / rate };
    },
  };
}

export function rows({ row }) {
  const ten = { metric: "rate", ours: "tidegate.gate-ten", peers: ["tidegate.gate-one"] };
  return [
    row({ ...ten, what: "10 rules of which 3 apply, 10k list entries, 5 tiers", bar: { from: 500_000 } }),
    row({ ...ten, what: "the same, to one rule without lists", bar: { atLeast: 1 / 4 } }),
  ];
}
