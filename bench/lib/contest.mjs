// Runs one measure: a process per contestant, samples taken in turn. Where asked for, processes are fresh for each sample
// (`fresh`), or begin anew after every so many turns (`renewed`).
import { fork } from "node:child_process";
import { label } from "../peers/index.mjs";

const WORKER = new URL("./worker.mjs", import.meta.url);

function startWorker() {
  const child = fork(WORKER, {
    execArgv: ["--expose-gc", "--max-old-space-size=6144"],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  let waiting;
  child.on("message", (message) => {
    if (message.ok) waiting.resolve(message.sample);
    else waiting.reject(new Error(message.error));
  });
  child.on("exit", (code, signal) =>
    waiting?.reject(new Error(`the contestant's process ended (${signal ?? code})`)),
  );
  const ask = (message) =>
    new Promise((resolve, reject) => {
      waiting = { resolve, reject };
      child.send(message);
    });
  const end = () =>
    new Promise((resolve) => {
      waiting = undefined;
      if (child.exitCode !== null || child.signalCode !== null) return resolve();
      child.once("exit", resolve);
      child.send({ do: "end" }, (error) => error && child.kill());
    });
  return { ask, end };
}

/**
 * @returns samples: contestant -> params' name -> [{...}, ...], and failures: contestant -> why. A contestant
 * that fails is left out and named; the others go on.
 */
export async function contest({ measure, contestants, rounds, settings, note }) {
  const paramsList = measure.params ?? [{ name: "" }];
  const samples = Object.fromEntries(
    contestants.map((contestant) => [
      contestant,
      Object.fromEntries(paramsList.map(({ name }) => [name, []])),
    ]),
  );
  const workers = new Map();
  const facts = {};
  const failures = {};
  const attempt = async (contestant, act) => {
    if (contestant in failures) return;
    try {
      await act();
    } catch (error) {
      failures[contestant] = error.message;
      note(`${measure.id}: ${label(contestant)} failed and is left out: ${error.message}`);
    }
  };
  const prepare = async (contestant) => {
    const worker = startWorker();
    try {
      facts[contestant] = await worker.ask({
        do: "setup",
        measure: measure.id,
        contestant,
        flush: contestant === contestants.find((each) => !(each in failures)),
        ...settings,
      });
    } catch (error) {
      await worker.end();
      throw error;
    }
    return worker;
  };
  const prepareAll = async () => {
    for (const contestant of contestants) {
      note(`${measure.id}: preparing ${label(contestant)}`);
      await attempt(contestant, async () => workers.set(contestant, await prepare(contestant)));
    }
  };
  const endAll = async () => {
    for (const worker of workers.values()) await worker.end();
    workers.clear();
  };
  try {
    if (!measure.fresh) await prepareAll();
    // What all have to agree on before the first sample, e.g. a rate that the slowest can do; anew with the processes, since a
    // machine that has become slower would be asked for too much.
    let agreed = measure.agree?.(facts);
    for (let round = 1; round <= rounds; round++) {
      note(`${measure.id}: round ${round} of ${rounds}`);
      if (measure.renewed && round > 1 && (round - 1) % measure.turns === 0) {
        await endAll();
        await prepareAll();
        agreed = measure.agree?.(facts);
      }
      // There and back: none comes always after the same other, whose doing it might feel.
      const inTurn = round % 2 === 1 ? contestants : contestants.toReversed();
      for (const params of paramsList) {
        for (const contestant of inTurn) {
          await attempt(contestant, async () => {
            const worker = workers.get(contestant) ?? (await prepare(contestant));
            samples[contestant][params.name].push(
              await worker.ask({ do: "sample", params: { ...params, ...agreed } }),
            );
            if (measure.fresh) await worker.end();
          });
        }
      }
    }
  } finally {
    await endAll();
  }
  for (const contestant of Object.keys(failures)) delete samples[contestant];
  return { samples, failures };
}
