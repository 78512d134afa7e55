import { expect, test } from "vitest";
import type { Offender } from "../offenders.js";
import { byScore } from "./offender-merge.js";
import { rankedOffenders } from "./ranked-offenders.js";

test("whatever changes, those not ended are answered worst first", () => {
  const ranked = rankedOffenders();
  const known = new Map<string, Offender>();
  let seed = 3;
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  for (let time = 0; time < 3_000; time++) {
    const id = String(random(60));
    const offender = { key: id, until: time + random(90) + time / 4_096, score: random(8) } as Offender;
    const told = random(7) === 0 ? undefined : offender;
    ranked.put(id, told);
    if (told === undefined) known.delete(id);
    else known.set(id, told);
    if (random(4) > 0) continue;
    const expected = [...known.values()].filter(({ until }) => until > time).sort(byScore);
    expect(ranked.at(time)).toEqual(expected);
  }
  ranked.clear();
  expect(ranked.at(0)).toEqual([]);
});
