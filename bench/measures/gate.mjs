import { randomWalk } from "../lib/keys.mjs";
import { oneByOne } from "../lib/load.mjs";
import { makeSubjects } from "../lib/subjects.mjs";

export const id = "gate";
export const title = "gate.decide, memory";
export const contestants = ["tidegate.gate-one", "tidegate.gate-ten"];
export const metrics = ["rate", "nanos"];
const CROWDS = { "1,000 clients": 1000, "10,000 clients": 10_000 };
export const params = Object.keys(CROWDS).map((name) => ({ name }));

/** A gate that lets nobody pass, or judges by other rules than it is meant to, would be measured in vain. */
async function verify(call, subject, contestant) {
  const { allowed, verdicts } = await call(subject);
  const rules = new Set(verdicts.map(({ rule }) => rule)).size;
  const expected = contestant.endsWith("gate-ten") ? 3 : 1;
  if (!allowed || rules !== expected) throw new Error(`${rules} rules judged, allowed: ${allowed}`);
}

export async function setup({ make, sampleMs, contestant }) {
  const gate = await make();
  const crowds = {};
  for (const [name, clients] of Object.entries(CROWDS)) {
    const crowd = { subjects: makeSubjects(clients), walk: randomWalk(clients, 1 << 20) };
    for (const subject of crowd.subjects) await verify(gate.call, subject, contestant);
    crowds[name] = crowd;
  }
  const sample = async ({ name }) => {
    const { subjects, walk } = crowds[name];
    const rate = await oneByOne(gate, subjects, walk, sampleMs);
    return { rate, nanos: 1e9 / rate };
  };
  for (let i = 0; i < 2; i++) for (const each of params) await sample(each);
  return { sample };
}

export function rows({ row }) {
  const ten = { metric: "rate", ours: "tidegate.gate-ten", peers: ["tidegate.gate-one"] };
  return params.flatMap(({ name: at }) => [
    row({
      ...ten,
      at,
      what: `${at}, 10 rules of which 3 apply, 10k list entries, 5 tiers`,
      bar: { from: 500_000 },
    }),
    row({ ...ten, at, what: `${at}, the same, to one rule without lists`, bar: { atLeast: 1 / 4 } }),
  ]);
}
