// The loops. Each contestant has a process of its own, so these stay monomorphic and inline as they would
// in an application that has one limiter.

import { performance } from "node:perf_hooks";
import { quantile } from "./stats.mjs";

// Every answer escapes here: none can be optimised away.
export const sink = { answer: undefined };

const CHUNK = 20_000;

/** Calls one after another for about `ms`; the answer is calls per second. */
export async function oneByOne({ call, sync, reset }, keys, walk, ms) {
  reset?.();
  let done = 0;
  let at = 0;
  const started = performance.now();
  let elapsed = 0;
  while (elapsed < ms) {
    if (at + CHUNK > walk.length) at = 0;
    if (sync) runSync(call, keys, walk, at);
    else await runAsync(call, keys, walk, at);
    at += CHUNK;
    done += CHUNK;
    elapsed = performance.now() - started;
  }
  return (done * 1000) / elapsed;
}

function runSync(call, keys, walk, from) {
  for (let i = from; i < from + CHUNK; i++) sink.answer = call(keys[walk[i]]);
}

async function runAsync(call, keys, walk, from) {
  for (let i = from; i < from + CHUNK; i++) sink.answer = await call(keys[walk[i]]);
}

/** As above with a new string for every call. What it takes to make the strings is measured beside and taken off. */
export async function freshKeys({ call, sync, reset }, keys, walk, ms) {
  reset?.();
  const text = Buffer.from(keys.join(""), "latin1");
  let done = 0;
  let at = 0;
  let elapsed = 0;
  let making = 0;
  while (elapsed < ms) {
    if (at + CHUNK > walk.length) at = 0;
    const first = performance.now();
    makeOnly(text, walk, at);
    const second = performance.now();
    if (sync) freshSync(call, text, walk, at);
    else await freshAsync(call, text, walk, at);
    making += second - first;
    elapsed += performance.now() - second;
    at += CHUNK;
    done += CHUNK;
  }
  return (done * 1000) / (elapsed - making);
}

const cut = (text, i) => text.latin1Slice(i * 16, i * 16 + 16);

function makeOnly(text, walk, from) {
  for (let i = from; i < from + CHUNK; i++) sink.answer = cut(text, walk[i]);
}

function freshSync(call, text, walk, from) {
  for (let i = from; i < from + CHUNK; i++) sink.answer = call(cut(text, walk[i]));
}

async function freshAsync(call, text, walk, from) {
  for (let i = from; i < from + CHUNK; i++) sink.answer = await call(cut(text, walk[i]));
}

/** Keeps `inFlight` calls going for about `ms`. */
export async function inFlight({ call }, keys, walk, count, ms) {
  const latencies = [];
  let at = 0;
  const started = performance.now();
  const until = started + ms;
  async function lane() {
    let before = performance.now();
    while (before < until) {
      if (at === walk.length) at = 0;
      sink.answer = await call(keys[walk[at++]]);
      const after = performance.now();
      latencies.push(after - before);
      before = after;
    }
  }
  await Promise.all(Array.from({ length: count }, lane));
  const elapsed = performance.now() - started;
  return {
    decisions: latencies.length,
    rate: (latencies.length * 1000) / elapsed,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
  };
}

/** Calls once for each index in [from, to), `count` at a time. */
export async function each(call, keyAt, from, to, count = 64) {
  let next = from;
  async function lane() {
    while (next < to) sink.answer = await call(keyAt(next++));
  }
  await Promise.all(Array.from({ length: count }, lane));
}

export async function settle() {
  for (let i = 0; i < 4; i++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
