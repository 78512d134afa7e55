import type { ClientBase, Pool, QueryConfig } from "pg";
import type { CustomerRecord } from "tidegate";
import { parameterCount } from "../sql-parameters.js";
import {
  type CustomerSource,
  connectMs,
  exchangeMs,
  messageOf,
  SourceError,
  writeMs,
} from "./customer-source.js";
import { limitsText } from "./limits-text.js";

export interface PostgresSourceOptions {
  readonly url: string;
  readonly select: string;
  readonly update: string;
}

/** The package's types do not tell of it. */
type TimedQuery = QueryConfig & { readonly query_timeout: number };

const rowsAtOnce = 1000;
/** Between two pages, while the first is brought in. */
const idleMs = 60_000;

/** Customers in PostgreSQL. Rows come through a cursor in a read-only transaction, so however many there are, few are held. */
export async function postgresSource({
  url,
  select,
  update,
}: PostgresSourceOptions): Promise<CustomerSource> {
  const { default: pg } = await import("pg");
  const pool: Pool = new pg.Pool({
    connectionString: url,
    max: 2,
    connectionTimeoutMillis: connectMs,
    query_timeout: exchangeMs,
    allowExitOnIdle: true,
    application_name: "tidegate",
  });
  // A connection that breaks between two questions: the next question says so, or is asked on a new one.
  pool.on("error", () => {});
  pool.on("connect", (client) => void client.on("error", () => {}));
  const taken = parameterCount(update);

  return {
    kind: "sql",
    async *rows(signal) {
      const { client, release } = await connected(pool);
      const breakOff = (): void => release(true);
      signal.addEventListener("abort", breakOff);
      let isSound = true;
      try {
        await client.query("BEGIN READ ONLY");
        // Not as the connection's parameters: poolers such as PgBouncer refuse those.
        await client.query(
          `SET LOCAL statement_timeout = ${exchangeMs}; SET LOCAL idle_in_transaction_session_timeout = ${idleMs}`,
        );
        await client.query(
          `DECLARE tidegate_customers NO SCROLL CURSOR FOR ${select.replace(/[;\s]+$/, "")}`,
        );
        for (;;) {
          const { rows } = await client.query(`FETCH ${rowsAtOnce} FROM tidegate_customers`);
          if (rows.length === 0) break;
          yield rows;
        }
      } catch (error) {
        isSound = false;
        signal.throwIfAborted();
        throw new SourceError("unreached", messageOf(error));
      } finally {
        signal.removeEventListener("abort", breakOff);
        isSound &&= await client.query("ROLLBACK").then(Boolean, () => false);
        release(!isSound);
      }
    },
    async write(id, record) {
      const { client, release } = await connected(pool);
      let isSound = true;
      try {
        const values = valuesOf(id, record).slice(0, taken);
        const query: TimedQuery = { text: update, values, query_timeout: writeMs };
        const { rowCount } = await client.query(query);
        if (rowCount === 0) throw noSuchCustomer();
      } catch (error) {
        const failure = failureOf(error);
        isSound = failure.outcome !== "unknown";
        throw failure;
      } finally {
        release(!isSound);
      }
    },
    close: () => pool.end(),
  };
}

/** What `update` takes as $1, $2, $3. */
export function valuesOf(
  id: string,
  { tier, limits }: CustomerRecord,
): [string, string | null, string | null] {
  return [id, tier ?? null, limitsText(limits)];
}

export function noSuchCustomer(): SourceError {
  return new SourceError("refused", "customers.source.update changed no row, so there is no such customer");
}

interface Connected {
  readonly client: ClientBase;
  /** The first call counts. */
  release(isBroken: boolean): void;
}

async function connected(pool: Pool): Promise<Connected> {
  const client = await pool.connect().catch((error: unknown) => {
    throw new SourceError("unreached", messageOf(error));
  });
  let isReleased = false;
  return {
    client,
    release(isBroken) {
      if (!isReleased) client.release(isBroken);
      isReleased = true;
    },
  };
}

function sqlStateOf(error: unknown): string | undefined {
  const code = error instanceof Error && "severity" in error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}

/** Connection, login, resources, deadlock, locks, cancelled, or the statement itself is wrong: this customer is not the reason. */
const notNow = /^(08|25|28|3D|40|42|53|55|57014|58|XX)/;
/** The server went down with the statement under way. */
const goingDown = /^57P/;

function failureOf(error: unknown): SourceError {
  if (error instanceof SourceError) return error;
  const state = sqlStateOf(error);
  if (state === undefined || goingDown.test(state)) return new SourceError("unknown", messageOf(error));
  return new SourceError(notNow.test(state) ? "unreached" : "refused", `${messageOf(error)} (${state})`);
}
