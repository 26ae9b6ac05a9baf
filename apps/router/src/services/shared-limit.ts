import { hash } from "node:crypto";
import { CliError, type Environment } from "evaluator-kit";
import {
  EvaluatorError,
  keyFromEnvironment,
  type LimitStore,
  sharedPacer,
  type Transport,
} from "evaluator-client";
import type { DatabaseFailure } from "evaluator-runs/postgres";

type OpenStore = LimitStore & AsyncDisposable;

/** The vendor's own limit (contract section 8). */
const REQUESTS_PER_MINUTE = 1200;

const lost = "This router goes on with its own share of the limit until it can.";

/** Opens the limit that several routers share, later if need be. @throws CliError for settings that stay wrong. */
export async function openSharedLimit(
  { url, requestsPerMinute }: { url: string; requestsPerMinute: number | null },
  warn: (line: string) => void,
  open: (url: string) => Promise<OpenStore> = async (address) =>
    (await import("evaluator-runs/postgres")).postgresLimits(address),
) {
  const opened = Promise.withResolvers<OpenStore>();
  let opening: Promise<OpenStore> | null = null;
  /** Opens the store at the first call, or at a later one if that fails. */
  const reach = async () => {
    opening ??= open(url);
    const store = await opening.catch((error: unknown) => {
      opening = null;
      throw error;
    });
    opened.resolve(store);
    return store;
  };
  let isLost = false;
  const onFailure = (error: unknown) => {
    if (!isLost) warn(`ROUTER_LIMITS: ${describe(error)} ${lost}\n`);
    isLost = true;
  };
  async function reporting<TResult>(use: (store: OpenStore) => Promise<TResult>): Promise<TResult> {
    try {
      const result = await use(await reach());
      if (isLost) warn("ROUTER_LIMITS: the database answers again; the limit is shared.\n");
      isLost = false;
      return result;
    } catch (error) {
      onFailure(error);
      throw error;
    }
  }
  const store: LimitStore = {
    read: (key) => reporting((opened) => opened.read(key)),
    swap: (key, version, row) => reporting((opened) => opened.swap(key, version, row)),
    onPause(key, listener) {
      const listening = opened.promise.then((store) => store.onPause(key, listener));
      return () => void listening.then((end) => end());
    },
  };
  await reach().catch((error: unknown) => {
    const failure = failureOf(error);
    if (failure !== null && !lastingFailures.has(failure)) return onFailure(error);
    throw new CliError(`ROUTER_LIMITS: ${describe(error)}`, { cause: error });
  });
  return {
    /** Creates the pacer of all routers that ask the same service with the same key. */
    pacerFor(transport: Transport, env: Environment) {
      const own = transport.limits ?? {};
      const secret = keyFromEnvironment(env) ?? "";
      const key = hash("sha256", `${transport.target?.url ?? ""}\n${secret}`);
      const all = requestsPerMinute ?? own.requestsPerMinute ?? REQUESTS_PER_MINUTE;
      const limits = { ...own, requestsPerMinute: all };
      return sharedPacer({ store, key, limits });
    },
    [Symbol.asyncDispose]: async () => (await opening?.catch(() => null))?.[Symbol.asyncDispose](),
  };
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
