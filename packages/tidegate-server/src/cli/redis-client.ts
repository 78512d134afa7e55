import type { AuditAnswer } from "../api/types.js";
import { CliError, exit, usageError } from "./exit.js";
import type { Io } from "./io.js";
import type { RedisBack } from "./redis-back.js";
import { type ServerClient, serverClient } from "./server-client.js";

/** Answers what the admin API would, from Redis itself: a back of our own is opened at the first question. */
export interface RedisClient extends ServerClient {
  close(): Promise<void>;
}

export interface RedisClientOptions {
  readonly redis: string;
  /** The server's own file, for its prefix, identity and edges. */
  readonly config: string | undefined;
  readonly io: Pick<Io, "env" | "cwd">;
  readonly note: (text: string) => void;
}

export function redisClient({ redis, config, io, note }: RedisClientOptions): RedisClient {
  let opening: Promise<{ back: RedisBack; client: ServerClient }> | undefined;

  async function open(): Promise<{ back: RedisBack; client: ServerClient }> {
    // The server's modules take their time to load.
    const { openRedisBack } = await import("./redis-back.js");
    const back = await openRedisBack({ redis, config, ...io });
    const client = serverClient({
      url: back.url,
      token: back.token,
      env: io.env,
      flags: { url: "--redis", token: "TIDEGATE_REDIS", setting: "store.url" },
    });
    await lookAround(client, back).catch(async (error) => {
      await back.close();
      throw error;
    });
    return { back, client };
  }

  /** Nothing here is worth much while Redis is out of reach, or is another one than was meant. */
  async function lookAround(client: ServerClient, back: RedisBack): Promise<void> {
    const { versions } = (await client
      .get("/v1/policy/versions?most=1")
      .catch((error) => unreachable(error, back.problem()))) as {
      versions: readonly unknown[];
    };
    if (versions.length === 0)
      note(
        "This Redis has no policy yet, so no rule is known: see that --redis names the right one, and --config the server's file if that sets store.prefix.",
      );
  }

  const opened = (): Promise<{ back: RedisBack; client: ServerClient }> => {
    opening ??= open();
    return opening;
  };

  return {
    url: "Redis",
    get: async (path) => (await opened()).client.get(path),
    async send(method, path, body) {
      const { back, client } = await opened();
      if (back.hasCustomerSource && (await changesCustomer(client, method, path)))
        throw usageError(
          "Customers come from a database (customers.source), which only a server writes to.",
          "Leave --redis out, and ask the server.",
        );
      return client.send(method, path, body);
    },
    stream: async (path, options) => (await opened()).client.stream(path, options),
    async close() {
      const { back } = (await opening?.catch(() => undefined)) ?? {};
      await back?.close();
    },
  };
}

async function changesCustomer(client: ServerClient, method: string, path: string): Promise<boolean> {
  if (method === "PUT" && path.startsWith("/v1/customers/")) return true;
  const id = Number(/^\/v1\/audit\/(\d+)\/undo$/.exec(path)?.[1]);
  if (Number.isNaN(id)) return false;
  const { entries } = (await client.get(`/v1/audit?most=1&before=${id + 1}`)) as AuditAnswer;
  return entries[0]?.what.startsWith("customer.") === true;
}

function unreachable(error: unknown, problem: string | undefined): never {
  if (!(error instanceof CliError) || error.code !== "TG_DATA_UNREACHABLE") throw error;
  throw new CliError(
    exit.unreachable,
    `Redis can not be reached${problem === undefined ? "" : ` (${problem})`}.`,
    "See that it runs where --redis or TIDEGATE_REDIS says, and takes that user and password.",
    { code: error.code },
  );
}
