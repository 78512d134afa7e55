import { expect, onTestFinished, test, vi } from "vitest";
import { fastlyEdge } from "../../packages/tidegate-server/src/edges/fastly/fastly-edge.js";
import { startFastlyFake } from "../servers/fastly-fake/index.js";
import { controlRig, digestOf, offenderOf, shiftedClock } from "./control-support.js";
import { settingsFor } from "./edge-fastly-rig.js";

const hourMs = 3_600_000;
const patiently = { timeout: 20_000, interval: 20 };

test("1,200 offenders, 1,000 places and no writes left: in the next hour the worst 1,000 stand there", async () => {
  const clock = shiftedClock();
  const fake = await startFastlyFake({ clock });
  onTestFinished(() => fake.close());
  fake.create("tidegate_0", "tidegate_conf");
  fake.put("tidegate_0", "somebody's", "true");
  const edge = fastlyEdge({ ...settingsFor(fake), name: "front" }, clock);
  onTestFinished(() => edge.close());
  const { data, loop, log } = controlRig({ clock, through: () => edge });
  onTestFinished(() => loop.close());
  const standing = (): string[] =>
    [...fake.items("tidegate_0").keys()].filter((key) => key !== "somebody's").sort();
  const statusOf = async () => (await loop.desk.edges())[0];
  await vi.waitFor(async () => expect((await statusOf())?.state).toBe("in step"), patiently);

  fake.setBudget({ remaining: 0, resetInMs: hourMs });
  const scores = Array.from({ length: 1_200 }, (_, i) => ((i * 7_919) % 1_200) + 1);
  const until = clock() + 3 * hourMs;
  await Promise.all(scores.map((score) => data.offenders.add(offenderOf(digestOf(score), { score, until }))));
  await vi.waitFor(async () => expect((await statusOf())?.pending).toBeGreaterThan(0), patiently);
  expect(standing()).toEqual([]);

  clock.shift(hourMs + 1_000);
  const worst = Array.from({ length: 999 }, (_, i) => digestOf(1_200 - i)).sort();
  await vi.waitFor(() => {
    clock.shift(1_000);
    expect(standing()).toEqual(worst);
  }, patiently);
  expect(fake.items("tidegate_0").get("somebody's")).toBe("true");
  expect(await statusOf()).toMatchObject({
    evicted: 201,
    alarms: expect.arrayContaining([expect.stringMatching(/^Full/)]),
  });
  expect(log.lines.filter(({ level }) => level === "error").length).toBeGreaterThan(0);

  await data.edgeBook.addClears([digestOf(1_200)], { until, who: "ann" });
  await vi.waitFor(() => {
    clock.shift(1_000);
    expect(standing()).toEqual([...worst.filter((key) => key !== digestOf(1_200)), digestOf(201)].sort());
  }, patiently);
});
