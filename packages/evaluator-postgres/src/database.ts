import { Client, escapeIdentifier, Pool, type PoolClient, type PoolConfig } from "pg";
import { DatabaseError, toDatabaseError } from "./database-error.ts";

/** Where PostgreSQL is: a URL, or the options of `pg`, TLS among them. */
export type Connection = string | PoolConfig;

/** Runs one statement and returns its rows. */
export type Query = <TRow extends object>(text: string, values?: unknown[]) => Promise<TRow[]>;

/** The few things that are asked of PostgreSQL, whoever speaks to it. */
export interface Database {
  readonly query: Query;
  /** Runs statements that are kept together or not at all. */
  transaction<TResult>(run: (query: Query) => Promise<TResult>): Promise<TResult>;
  /** Calls back with each payload of a channel until it is closed; listens again after a cut. */
  listen(channel: string, heard: (payload: string) => void): Promise<void>;
  close(): Promise<void>;
}

const defaults: PoolConfig = {
  application_name: "evaluator",
  // A process asks for one lease of a key at a time.
  max: 4,
  // Who waits for a lease goes on with a share of its own after that, so a hanging server ends too.
  connectionTimeoutMillis: 3000,
  query_timeout: 3000,
  keepAlive: true,
};
const LISTEN_AGAIN_MS = 1000;
// A migration may wait for another process that migrates.
const TRANSACTION_STATEMENT_MS = 60_000;

/**
 * Opens a pool of connections; nothing is connected yet.
 *
 * @throws DatabaseError when the options cannot be read; it holds nothing of them.
 */
export function openDatabase(connection: Connection): Database {
  const options = { ...defaults, ...toOptions(connection) };
  const pool = new Pool(options);
  // An idle connection that breaks is replaced by the pool; the next statement tells the rest.
  pool.on("error", () => {});
  const listeners = new Set<ChannelListener>();
  return {
    query: toQuery(pool),
    transaction: (run) => runTransaction(pool, run),
    async listen(channel, heard) {
      const listener = new ChannelListener(options, channel, heard);
      listeners.add(listener);
      await listener.connect();
    },
    async close() {
      await Promise.all([...listeners].map((listener) => listener.stop()));
      await pool.end();
    },
  };
}

function toOptions(connection: Connection): PoolConfig {
  const options = typeof connection === "string" ? { connectionString: connection } : connection;
  const url = options.connectionString;
  if (url !== undefined && !/^(?:postgres(?:ql)?:\/\/|socket:|\/)/.test(url)) throw misread();
  try {
    // Reads the URL and the files it names, and connects to nothing.
    void new Client(options);
  } catch {
    throw misread();
  }
  return options;
}

function misread(): DatabaseError {
  return new DatabaseError(
    "The connection to PostgreSQL cannot be read. Write it as postgres://user:password@host:5432/database, with reserved characters percent-encoded and files that exist, or as the options of pg.",
    { failure: "connection-options" },
  );
}

function toQuery(client: Pool | PoolClient, limits: { query_timeout?: number } = {}): Query {
  return async <TRow extends object>(text: string, values?: unknown[]) => {
    try {
      const { rows } = await client.query<TRow>({
        ...limits,
        text,
        ...(values !== undefined && { values }),
      });
      return rows;
    } catch (error) {
      throw toDatabaseError(error);
    }
  };
}

async function runTransaction<TResult>(
  pool: Pool,
  run: (query: Query) => Promise<TResult>,
): Promise<TResult> {
  const client = await pool.connect().catch((error: unknown) => {
    throw toDatabaseError(error);
  });
  const query = toQuery(client, { query_timeout: TRANSACTION_STATEMENT_MS });
  try {
    await query("begin");
    const result = await run(query);
    await query("commit");
    client.release();
    return result;
  } catch (error) {
    // Closing the connection rolls back, and works after a cut too.
    client.release(true);
    throw error;
  }
}

/** Listens on a connection of its own, and on another one when that breaks. */
class ChannelListener {
  readonly #options: PoolConfig;
  readonly #channel: string;
  readonly #heard: (payload: string) => void;
  #client: Client | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(options: PoolConfig, channel: string, heard: (payload: string) => void) {
    this.#options = options;
    this.#channel = channel;
    this.#heard = heard;
  }

  /** Never rejects: without it, a pause is heard with the next lease. */
  async connect(): Promise<void> {
    const client = new Client(this.#options);
    this.#client = client;
    client.on("error", () => {});
    client.on("end", () => this.#connectAgain(client));
    client.on("notification", ({ payload = "" }) => this.#heard(payload));
    try {
      await client.connect();
      setReferenced(client, false);
      await client.query(`listen ${escapeIdentifier(this.#channel)}`);
    } catch {
      await client.end().catch(() => {});
      this.#connectAgain(client);
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    if (this.#client === null) return;
    setReferenced(this.#client, true);
    await this.#client.end().catch(() => {});
  }

  #connectAgain(ended: Client): void {
    clearTimeout(this.#timer);
    if (this.#isStopped || ended !== this.#client) return;
    this.#timer = setTimeout(() => void this.connect(), LISTEN_AGAIN_MS).unref();
  }
}

/** Sets whether a connection keeps the process alive; while it ends it has to, or nobody sees the end. */
function setReferenced(client: Client, isReferenced: boolean): void {
  // The types of pg leave these out.
  const { connection } = client as Client & { connection: { ref(): void; unref(): void } };
  if (isReferenced) connection.ref();
  else connection.unref();
}
