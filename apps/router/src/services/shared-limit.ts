import { createHash } from "node:crypto";
import { CliError, type Environment } from "evaluator-kit";
import {
  EvaluatorError,
  keyFromEnvironment,
  type LimitStore,
  type Pacer,
  sharedPacer,
  type Transport,
} from "evaluator-client";
import type { DatabaseFailure } from "evaluator-runs/postgres";

/** A limit with its store, which may still have to be opened. */
export interface SharedLimit {
  readonly store: LimitStore;
  /** Of all routers together; null for the engine's own limit, else 1,200. */
  readonly requestsPerMinute: number | null;
}

type OpenStore = LimitStore & AsyncDisposable;

/** The vendor's own limit (contract section 8). */
const REQUESTS_PER_MINUTE = 1200;

const lost = "goes on with its own share of the limit until it can";

/** Opens the limit that several routers share. @throws CliError for settings that stay wrong. */
export async function openSharedLimit(
  { url, requestsPerMinute }: { url: string; requestsPerMinute: number | null },
  warn: (line: string) => void,
  open: (url: string) => Promise<OpenStore> = async (address) =>
    (await import("evaluator-runs/postgres")).postgresLimits(address),
): Promise<SharedLimit & AsyncDisposable> {
  let isLost = false;
  const onFailure = (error: unknown) => {
    if (!isLost) warn(`ROUTER_LIMITS: ${describe(error)} This router ${lost}.\n`);
    isLost = true;
  };
  const onSuccess = () => {
    if (isLost) warn("ROUTER_LIMITS: the database answers again; the limit is shared.\n");
    isLost = false;
  };
  const store = createReopeningStore(() => open(url), onFailure, onSuccess);
  try {
    await store.reach();
  } catch (error) {
    const failure = failureOf(error);
    if (failure === null || lastingFailures.has(failure)) {
      throw new CliError(`ROUTER_LIMITS: ${describe(error)}`, { cause: error });
    }
    onFailure(error);
  }
  return { requestsPerMinute, store, [Symbol.asyncDispose]: () => store.close() };
}

const lastingFailures: ReadonlySet<DatabaseFailure> = new Set([
  "connection-options",
  "denied",
  "too-old",
  "newer-schema",
]);

function failureOf(error: unknown): DatabaseFailure | null {
  const isKnown = error instanceof EvaluatorError && "failure" in error;
  return isKnown ? (error.failure as DatabaseFailure) : null;
}

/** A database's error never holds its address; of other errors, only the name is printed. */
function describe(error: unknown): string {
  if (failureOf(error) !== null) return (error as Error).message;
  return `The package evaluator-runs failed (${error instanceof Error ? error.name : "unknown error"}).`;
}

/** Creates a store that opens another one at the first call, and again after a failure. */
function createReopeningStore(
  open: () => Promise<OpenStore>,
  onFailure: (error: unknown) => void,
  onSuccess: () => void,
) {
  let opened: OpenStore | null = null;
  let opening: Promise<OpenStore> | null = null;
  // They also listen to stores that are opened later.
  const listeners = new Set<{ key: string; listener: (ms: number) => void; end: () => void }>();
  async function openOnce(): Promise<OpenStore> {
    const store = await open();
    for (const each of listeners) each.end = store.onPause(each.key, each.listener);
    return (opened = store);
  }
  async function reach(): Promise<OpenStore> {
    opening ??= openOnce().finally(() => (opening = null));
    return opened ?? opening;
  }
  async function reporting<TResult>(use: (store: OpenStore) => Promise<TResult>): Promise<TResult> {
    try {
      const result = await use(opened ?? (await reach()));
      onSuccess();
      return result;
    } catch (error) {
      onFailure(error);
      throw error;
    }
  }
  return {
    reach,
    read: (key) => reporting((store) => store.read(key)),
    swap: (key, version, row) => reporting((store) => store.swap(key, version, row)),
    onPause(key, listener) {
      const own = { key, listener, end: () => {} };
      if (opened !== null) own.end = opened.onPause(key, listener);
      listeners.add(own);
      return () => {
        listeners.delete(own);
        own.end();
      };
    },
    async close() {
      const store = opened ?? (await opening?.catch(() => null)) ?? null;
      await store?.[Symbol.asyncDispose]();
    },
  } satisfies LimitStore & { reach: () => Promise<OpenStore>; close: () => Promise<void> };
}

/** Creates the pacer of all routers that ask the same service with the same key. */
export function sharedLimitPacer(
  { store, requestsPerMinute }: SharedLimit,
  transport: Transport,
  env: Environment,
): Pacer & AsyncDisposable {
  const own = transport.limits ?? {};
  const secret = keyFromEnvironment(env) ?? "";
  const key = createHash("sha256").update(`${transport.target?.url ?? ""}\n${secret}`);
  const limits = {
    ...own,
    requestsPerMinute: requestsPerMinute ?? own.requestsPerMinute ?? REQUESTS_PER_MINUTE,
  };
  return sharedPacer({ store, key: key.digest("hex"), limits });
}
