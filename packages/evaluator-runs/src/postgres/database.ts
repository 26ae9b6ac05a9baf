import type { EventEmitter } from "node:events";
import type { Cell } from "../store/run-query.ts";
import type { Socket } from "node:net";
import type { Clock } from "evaluator-kit";
import type { ConnectionOptions } from "node:tls";
import {
  Client,
  type ClientBase,
  escapeIdentifier,
  Pool,
  type PoolClient,
  type PoolConfig,
  type QueryArrayConfig,
  type QueryResult,
} from "pg";
import { describeFailure, toDatabaseError } from "./database-error.ts";

/** Where PostgreSQL is: a URL, or the options of `pg`, TLS among them. */
export type Connection = string | PoolOptions;

/** Options of a pool of `pg`, in place of its declarations, which bring those of Node along. */
interface PoolOptions {
  readonly connectionString?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly user?: string | undefined;
  readonly password?: string | (() => string | Promise<string>) | undefined;
  readonly database?: string | undefined;
  readonly ssl?: boolean | ConnectionOptions | undefined;
  readonly application_name?: string | undefined;
  /** Connections at most. */
  readonly max?: number | undefined;
  /** Milliseconds. */
  readonly connectionTimeoutMillis?: number | undefined;
  /** Milliseconds. */
  readonly query_timeout?: number | undefined;
}

/** Runs one statement, or without values several, and returns all rows. */
export type Query = <TRow extends object>(text: string, values?: unknown[]) => Promise<TRow[]>;

/** Parsers of texts by the number of their PostgreSQL type; other types stay texts. */
type CellParsers = Readonly<Record<number, (text: string) => Cell>>;

interface CellRows {
  readonly fields: readonly { readonly name: string }[];
  readonly rows: readonly (readonly Cell[])[];
}

/** One connection, inside a transaction. */
export interface Session {
  readonly query: Query;
  /** Runs a single statement, with its rows as lists; its errors are those of the driver. */
  readonly runOne: (text: string, parsers: CellParsers) => Promise<CellRows>;
}

/** The operations on PostgreSQL, with pg or a substitute. */
export interface Database {
  readonly query: Query;
  /** Takes a connection until it is released; a broken one is closed, which rolls back. */
  connect(): Promise<{ readonly query: Query; release(isBroken: boolean): void }>;
  /**
   * Runs statements in a transaction.
   *
   * @param signal - Cancels the running statement. With a signal the connection is closed after the
   *   transaction, so that no session state remains.
   */
  transaction<TResult>(
    run: (session: Session) => Promise<TResult>,
    signal?: AbortSignal,
  ): Promise<TResult>;
  /** Calls back with each payload of a channel until it is closed; listens again after a cut. */
  listen(channel: string, onMessage: (payload: string) => void): Promise<void>;
  close(): Promise<void>;
}

const defaults: PoolConfig = {
  application_name: "evaluator",
  // A process asks for one lease of a key at a time.
  max: 4,
  // After that a process continues with its own share of the limit, also if the server hangs.
  connectionTimeoutMillis: 3000,
  query_timeout: 3000,
  keepAlive: true,
};
// Chosen, not measured: meanwhile a pause comes with the next lease.
const LISTEN_AGAIN_MS = 1000;
// A migration may wait for another process that migrates; chosen.
const TRANSACTION_STATEMENT_MS = 60_000;

/** Waits that keep no process alive, which may end without a close. */
const idleWaits: Pick<Clock, "schedule"> = {
  schedule(delayMs, callback) {
    const timer = setTimeout(callback, delayMs).unref();
    return () => clearTimeout(timer);
  },
};

/**
 * Opens a pool of connections; nothing is connected yet.
 *
 * @throws DatabaseError if the options are invalid; it contains none of them.
 */
export function openDatabase(
  connection: Connection,
  ownDefaults: PoolOptions = {},
  clock = idleWaits,
): Database {
  const options = { ...defaults, ...ownDefaults, ...toOptions(connection) };
  // Each query sets its own.
  const pool = new Pool({ ...options, query_timeout: 0 });
  // The pool replaces a broken idle connection; the next statement reports a lasting problem.
  pool.on("error", () => {});
  const endings: (() => Promise<void>)[] = [];
  return {
    query: toQuery(pool, options),
    async connect() {
      const client = await connectClient(pool);
      let isReleased = false;
      const release = (isBroken: boolean) => {
        client.off("error", ignore).off("end", onEnd);
        if (!isReleased) client.release(isBroken);
        isReleased = true;
      };
      // The server ends a connection that holds a lock too long.
      const onEnd = () => release(true);
      client.once("end", onEnd);
      return { query: toQuery(client, options), release };
    },
    transaction: (run, signal) => runTransaction(pool, run, signal),
    async listen(channel, onMessage) {
      endings.push(await startListening({ ...options, clock }, channel, onMessage));
    },
    async close() {
      await Promise.all(endings.map((end) => end()));
      await pool.end();
    },
  };
}

function toOptions(connection: Connection): PoolConfig {
  const options = typeof connection === "string" ? { connectionString: connection } : connection;
  const { connectionString: url = "/" } = options;
  if (/^(?:postgres(?:ql)?:\/\/|socket:|\/)/.test(url)) {
    try {
      void new Client(options); // reads the URL and the files it names, and connects to nothing
      return options;
    } catch {}
  }
  throw describeFailure("connection-options");
}

function toQuery(client: Pool | PoolClient, { query_timeout }: PoolConfig): Query {
  return async <TRow extends object>(text: string, values?: unknown[]) => {
    try {
      const result: QueryResult<TRow> | QueryResult<TRow>[] = await client.query<TRow>({
        text,
        ...(query_timeout !== undefined && { query_timeout }),
        ...(values !== undefined && { values }),
      });
      return [result].flat().flatMap(({ rows }) => rows);
    } catch (error) {
      throw toDatabaseError(error);
    }
  };
}

const ignore = (): void => {};

async function connectClient(pool: Pool): Promise<PoolClient> {
  const client = await pool.connect().catch((error: unknown) => {
    throw toDatabaseError(error);
  });
  // A cut connection is an error of its statement and again of the client.
  return client.on("error", ignore);
}

async function runTransaction<TResult>(
  pool: Pool,
  run: (session: Session) => Promise<TResult>,
  signal?: AbortSignal,
): Promise<TResult> {
  const client = await connectClient(pool);
  const cancel = () => cancelStatement(client, pool.options);
  signal?.addEventListener("abort", cancel);
  const session: Session = {
    query: toQuery(client, { query_timeout: TRANSACTION_STATEMENT_MS }),
    runOne: (text, parsers) => client.query<Cell[]>(toSingle(text, parsers)),
  };
  try {
    signal?.throwIfAborted();
    await session.query("begin");
    const result = await run(session);
    await session.query("commit");
    client.off("error", ignore);
    client.release(signal !== undefined);
    return result;
  } catch (error) {
    // Closing the connection rolls back, and works after a cut too.
    client.release(true);
    throw signal?.aborted === true ? signal.reason : error;
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}

function toSingle(text: string, parsers: CellParsers): QueryArrayConfig {
  return {
    text,
    rowMode: "array",
    // Otherwise a text may have several statements, and one could end the transaction.
    queryMode: "extended",
    types: { getTypeParser: ((type: number) => parsers[type] ?? String) as never },
  } as QueryArrayConfig;
}

// The types of pg leave these out of a client.
interface PgInternals {
  readonly connection: EventEmitter & { readonly stream: Socket };
  readonly processID: number;
  readonly secretKey: number;
  cancel(client: object, query: null): void;
}

// Chosen: a signal ends a query within two seconds, even if the server does not answer.
const CANCEL_MS = 1000;

/** Cancels the running statement and closes the connection; after a close alone the server continues. */
function cancelStatement(client: ClientBase, options: PoolConfig): void {
  const other = new Client(options) as Client & PgInternals;
  const { connection, processID, secretKey } = client as ClientBase & PgInternals;
  const close = () => connection.stream.destroy();
  const { stream } = other.connection.on("error", () => {}).once("end", close);
  stream.setTimeout(CANCEL_MS, () => stream.destroy());
  other.cancel({ activeQuery: null, processID, secretKey }, null);
}

/**
 * Listens on a separate connection, and reconnects when it breaks. Never rejects: without it, a pause
 * comes with the next lease. Returns a function that ends it.
 */
async function startListening(
  { clock, ...options }: PoolConfig & { readonly clock: typeof idleWaits },
  channel: string,
  onMessage: (payload: string) => void,
): Promise<() => Promise<void>> {
  let newest: Client;
  let cancel = ignore;
  let isStopped = false;
  const connect = async (): Promise<void> => {
    const client = new Client(options);
    newest = client;
    const connectAgain = () => {
      cancel();
      if (isStopped || client !== newest) return;
      cancel = clock.schedule(LISTEN_AGAIN_MS, () => void connect());
    };
    client.on("error", ignore).on("end", connectAgain);
    client.on("notification", ({ payload = "" }) => onMessage(payload));
    try {
      await client.connect();
      setReferenced(client, false);
      await client.query(`listen ${escapeIdentifier(channel)}`);
    } catch {
      await client.end().catch(ignore);
      connectAgain();
    }
  };
  await connect();
  return async () => {
    isStopped = true;
    cancel();
    setReferenced(newest, true);
    await newest.end().catch(ignore);
  };
}

/** Sets whether a connection keeps the process alive, which it must while it closes. */
function setReferenced(client: Client, isReferenced: boolean): void {
  const { stream } = (client as Client & PgInternals).connection;
  if (isReferenced) stream.ref();
  else stream.unref();
}
