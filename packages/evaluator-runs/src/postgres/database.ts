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
    const waitTimer = setTimeout(callback, delayMs).unref();
    return () => clearTimeout(waitTimer);
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
  const poolOptions = { ...defaults, ...ownDefaults, ...toOptions(connection) };
  // Each query sets its own.
  const pool = new Pool({ ...poolOptions, query_timeout: 0 });
  // The pool replaces a broken idle connection; the next statement reports a lasting problem.
  pool.on("error", () => {});
  const endListeners: (() => Promise<void>)[] = [];
  return {
    query: toQuery(pool, poolOptions),
    async connect() {
      const pooledClient = await connectClient(pool);
      let isReleased = false;
      const release = (isBroken: boolean) => {
        pooledClient.off("error", ignore).off("end", onEnd);
        if (!isReleased) pooledClient.release(isBroken);
        isReleased = true;
      };
      // The server ends a connection that holds a lock too long.
      const onEnd = () => release(true);
      pooledClient.once("end", onEnd);
      return { query: toQuery(pooledClient, poolOptions), release };
    },
    transaction: (runSession, signal) => runTransaction(pool, runSession, signal),
    async listen(channel, onMessage) {
      endListeners.push(await startListening({ ...poolOptions, clock }, channel, onMessage));
    },
    async close() {
      await Promise.all(endListeners.map((endListener) => endListener()));
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

function toQuery(queryClient: Pool | PoolClient, { query_timeout }: PoolConfig): Query {
  return async <TRow extends object>(text: string, values?: unknown[]) => {
    try {
      const queryResult: QueryResult<TRow> | QueryResult<TRow>[] = await queryClient.query<TRow>({
        text,
        ...(query_timeout !== undefined && { query_timeout }),
        ...(values !== undefined && { values }),
      });
      return [queryResult].flat().flatMap(({ rows }) => rows);
    } catch (error) {
      throw toDatabaseError(error);
    }
  };
}

const ignore = (): void => {};

async function connectClient(clientPool: Pool): Promise<PoolClient> {
  const pooledClient = await clientPool.connect().catch((error: unknown) => {
    throw toDatabaseError(error);
  });
  // A cut connection is an error of its statement and again of the client.
  return pooledClient.on("error", ignore);
}

async function runTransaction<TResult>(
  clientPool: Pool,
  runSession: (session: Session) => Promise<TResult>,
  signal?: AbortSignal,
): Promise<TResult> {
  const pooledClient = await connectClient(clientPool);
  const cancelCurrent = () => cancelStatement(pooledClient, clientPool.options);
  signal?.addEventListener("abort", cancelCurrent);
  const session: Session = {
    query: toQuery(pooledClient, { query_timeout: TRANSACTION_STATEMENT_MS }),
    runOne: (text, parsers) => pooledClient.query<Cell[]>(toSingle(text, parsers)),
  };
  try {
    signal?.throwIfAborted();
    await session.query("begin");
    const runResult = await runSession(session);
    await session.query("commit");
    pooledClient.off("error", ignore);
    pooledClient.release(signal !== undefined);
    return runResult;
  } catch (error) {
    // Closing the connection rolls back, and works after a cut too.
    pooledClient.release(true);
    throw signal?.aborted === true ? signal.reason : error;
  } finally {
    signal?.removeEventListener("abort", cancelCurrent);
  }
}

function toSingle(text: string, cellParsers: CellParsers): QueryArrayConfig {
  return {
    text,
    rowMode: "array",
    // Otherwise a text may have several statements, and one could end the transaction.
    queryMode: "extended",
    types: { getTypeParser: ((typeId: number) => cellParsers[typeId] ?? String) as never },
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
function cancelStatement(busyClient: ClientBase, options: PoolConfig): void {
  const cancelClient = new Client(options) as Client & PgInternals;
  const { connection, processID, secretKey } = busyClient as ClientBase & PgInternals;
  const closeStream = () => connection.stream.destroy();
  const { stream } = cancelClient.connection.on("error", () => {}).once("end", closeStream);
  stream.setTimeout(CANCEL_MS, () => stream.destroy());
  cancelClient.cancel({ activeQuery: null, processID, secretKey }, null);
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
  let newestClient: Client;
  let cancelWait = ignore;
  let isStopped = false;
  const connect = async (): Promise<void> => {
    const listeningClient = new Client(options);
    newestClient = listeningClient;
    const connectAgain = () => {
      cancelWait();
      if (isStopped || listeningClient !== newestClient) return;
      cancelWait = clock.schedule(LISTEN_AGAIN_MS, () => void connect());
    };
    listeningClient.on("error", ignore).on("end", connectAgain);
    listeningClient.on("notification", ({ payload = "" }) => onMessage(payload));
    try {
      await listeningClient.connect();
      setReferenced(listeningClient, false);
      await listeningClient.query(`listen ${escapeIdentifier(channel)}`);
    } catch {
      await listeningClient.end().catch(ignore);
      connectAgain();
    }
  };
  await connect();
  return async () => {
    isStopped = true;
    cancelWait();
    setReferenced(newestClient, true);
    await newestClient.end().catch(ignore);
  };
}

/** Sets whether a connection keeps the process alive, which it must while it closes. */
function setReferenced(pgClient: Client, isReferenced: boolean): void {
  const { stream } = (pgClient as Client & PgInternals).connection;
  if (isReferenced) stream.ref();
  else stream.unref();
}
