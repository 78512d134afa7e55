// A contestant's own process. The parent says what to prepare and when to take a sample.
import { executionAsyncResource } from "node:async_hooks";
import { load } from "../peers/index.mjs";
import { connect, disconnect, send } from "./clients.mjs";

// Where a full collection finds no tick alive, V8 forgets their shape and every process.nextTick takes ten times as long from
// then on. When collections come depends on what a process has loaded: all keep one, so that none is the luckier.
globalThis.keptTick = undefined;
process.nextTick(() => {
  globalThis.keptTick = executionAsyncResource();
});

let bench;
let client;
let clientName;

async function setup(message) {
  const measure = await import(new URL(`../measures/${message.measure}.mjs`, import.meta.url));
  const [id, face] = message.contestant.split(".");
  const peer = await load(id, measure.http);
  clientName = message.clientName;
  let command;
  if (message.port !== undefined) {
    client = await connect(clientName, message.port);
    command = (...args) => send(client, clientName, args);
    if (message.flush) await command("FLUSHALL", "SYNC");
  }
  const faces = measure.http ? peer.apps : client === undefined ? peer.memory : peer.redis;
  const make = async (options = {}) => faces[face]({ client, clientName, port: message.port, ...options });
  bench = await measure.setup({
    make,
    command,
    contestant: message.contestant,
    sampleMs: message.sampleMs,
    quick: message.quick,
  });
}

// Whatever ends the bench ends the servers started here: they are killed when this process exits.
process.once("disconnect", () => process.exit(0));
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));

process.on("message", async (message) => {
  try {
    if (message.do === "setup") {
      await setup(message);
      process.send({ ok: true, sample: bench.facts });
    } else if (message.do === "sample") {
      process.send({ ok: true, sample: await bench.sample(message.params) });
    } else {
      if (client !== undefined) await disconnect(client, clientName);
      process.exit(0);
    }
  } catch (error) {
    process.send({ ok: false, error: String(error?.stack ?? error?.msBeforeNext ?? error) });
  }
});
