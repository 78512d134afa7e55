import { setTimeout as sleep } from "node:timers/promises";
import { ask, type ChildServer } from "./child-server.js";
import { freePort } from "./free-port.js";
import { startRedis } from "./redis.js";

export interface RedisClusterOptions {
  masters?: number;
  replicasPerMaster?: number;
  /** Further settings for every node. */
  args?: readonly string[];
}

/** All nodes at once; `nodes` gives each alone, masters first. */
export interface RedisCluster {
  readonly nodes: readonly ChildServer[];
  readonly ports: readonly number[];
  /** Of the first master; a cluster client finds the others. */
  readonly url: string;
  readonly pids: readonly number[];
  stop(): Promise<void>;
  freeze(): void;
  thaw(): void;
  kill(): Promise<void>;
  /** The nodes remember each other and their slots, not their keys. */
  restart(): Promise<void>;
}

const SLOTS = 16_384;
const FORMED_WITHIN_MS = 20_000;

/** Three masters without replicas unless told otherwise; ready in about 2 s, most of it Redis's own fixed wait. */
export async function startRedisCluster(options: RedisClusterOptions = {}): Promise<RedisCluster> {
  const masters = options.masters ?? 3;
  const size = masters * (1 + (options.replicasPerMaster ?? 0));
  const nodes = await startAll(Array.from({ length: size }, () => startNode(options.args ?? [])));
  const all = (act: (node: ChildServer) => Promise<void>) => Promise.all(nodes.map(act)).then(() => {});

  try {
    await form(nodes, masters);
  } catch (error) {
    await all((node) => node.stop());
    throw error;
  }

  return {
    nodes,
    ports: nodes.map((node) => node.port),
    url: nodes[0]?.url as string,
    get pids() {
      return nodes.map((node) => node.pid);
    },
    stop: () => all((node) => node.stop()),
    freeze: () => nodes.forEach((node) => void node.freeze()),
    thaw: () => nodes.forEach((node) => void node.thaw()),
    kill: () => all((node) => node.kill()),
    async restart() {
      await all((node) => node.restart());
      await untilAgreed(nodes, masters);
    },
  };
}

async function startNode(args: readonly string[]): Promise<ChildServer> {
  const busPort = await freePort();
  return startRedis({
    args: [
      ...["--cluster-enabled", "yes"],
      ...["--cluster-port", String(busPort)],
      ...["--cluster-node-timeout", "2000"],
      ...["--repl-diskless-sync-delay", "0"],
      ...args,
    ],
  });
}

/** Either all of them run afterwards or none. */
async function startAll(starting: Promise<ChildServer>[]): Promise<ChildServer[]> {
  const outcomes = await Promise.allSettled(starting);
  const started = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (!failed) return started;
  await Promise.all(started.map((node) => node.stop()));
  throw failed.reason;
}

/** Shares out the slots, introduces everybody to the first node, and attaches replicas round-robin. */
async function form(nodes: readonly ChildServer[], masters: number): Promise<void> {
  const ids = await Promise.all(nodes.map(async (node) => bulk(await command(node, "CLUSTER MYID"))));
  await Promise.all(
    nodes.map(async (node, i) => {
      await command(node, `CLUSTER SET-CONFIG-EPOCH ${i + 1}`);
      if (i < masters) await command(node, `CLUSTER ADDSLOTSRANGE ${slotsOf(i, masters)}`);
    }),
  );
  const [first, ...others] = nodes as [ChildServer, ...ChildServer[]];
  for (const node of others)
    await command(first, `CLUSTER MEET 127.0.0.1 ${node.port} ${await busPortOf(node)}`);
  await Promise.all(
    nodes.slice(masters).map(async (node, i) => {
      const master = ids[i % masters] as string;
      await until(`node ${node.port} to hear of its master`, async () =>
        (await command(node, "CLUSTER NODES")).includes(master),
      );
      await command(node, `CLUSTER REPLICATE ${master}`);
    }),
  );
  await untilAgreed(nodes, masters);
}

function slotsOf(i: number, masters: number): string {
  const from = Math.floor((i * SLOTS) / masters);
  const to = Math.floor(((i + 1) * SLOTS) / masters) - 1;
  return `${from} ${to}`;
}

async function busPortOf(node: ChildServer): Promise<string> {
  return (await command(node, "CONFIG GET cluster-port")).trim().split("\r\n").at(-1) as string;
}

/** Every node serves every slot, knows all masters as such, and every replica is in step. */
async function untilAgreed(nodes: readonly ChildServer[], masters: number): Promise<void> {
  await until("the cluster to form", async () => {
    const views = await Promise.all(
      nodes.map(async (node, i) => {
        const info = await command(node, "CLUSTER INFO");
        if (!info.includes("cluster_state:ok") || !info.includes(`cluster_known_nodes:${nodes.length}`))
          return false;
        if (!info.includes(`cluster_size:${masters}`)) return false;
        return i < masters || (await command(node, "INFO replication")).includes("master_link_status:up");
      }),
    );
    return views.every(Boolean);
  });
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + FORMED_WITHIN_MS;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`waited ${FORMED_WITHIN_MS} ms for ${what}`);
    await sleep(25);
  }
}

async function command(node: ChildServer, line: string): Promise<string> {
  const reply = await ask(node.port, `${line}\r\n`);
  if (reply.startsWith("-")) throw new Error(`${line}: ${reply.slice(1).trim()}`);
  return reply;
}

function bulk(reply: string): string {
  return reply.split("\r\n")[1] as string;
}
