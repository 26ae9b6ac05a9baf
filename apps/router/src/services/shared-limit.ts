import { hash } from "node:crypto";
import { CliError, type Environment } from "evaluator-kit";
import {
  EvaluatorError,
  keyFromEnvironment,
  type LimitStore,
  sharedPacer,
  type Transport,
} from "evaluator-client";

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
  const onStoreChange = (isDown: boolean, reason = "PostgreSQL does not answer.") => {
    if (isDown && !isLost) warn(`ROUTER_LIMITS: ${reason} ${lost}\n`);
    if (isLost && !isDown) {
      warn("ROUTER_LIMITS: the database answers again; the limit is shared.\n");
    }
    isLost = isDown;
  };
  const store: LimitStore = {
    read: async (key) => (await reach()).read(key),
    swap: async (key, version, row) => (await reach()).swap(key, version, row),
    onPause(key, listener) {
      const listening = opened.promise.then((store) => store.onPause(key, listener));
      return () => void listening.then((end) => end());
    },
  };
  await reach().catch((error: unknown) => {
    const reason = describe(error);
    if (error instanceof EvaluatorError && error.isRetryable) return onStoreChange(true, reason);
    throw new CliError(`ROUTER_LIMITS: ${reason}`, { cause: error });
  });
  return {
    /** Creates the pacer of all routers that ask the same service with the same key. */
    pacerFor(transport: Transport, env: Environment) {
      const own = transport.limits ?? {};
      const secret = keyFromEnvironment(env) ?? "";
      const key = hash("sha256", `${transport.target?.url ?? ""}\n${secret}`);
      const all = requestsPerMinute ?? own.requestsPerMinute ?? REQUESTS_PER_MINUTE;
      const limits = { ...own, requestsPerMinute: all };
      return sharedPacer({ store, key, limits, onStoreChange });
    },
    [Symbol.asyncDispose]: async () => (await opening?.catch(() => null))?.[Symbol.asyncDispose](),
  };
}

/** A database's error never holds its address; of other errors, only the name is printed. */
function describe(error: unknown): string {
  if (error instanceof EvaluatorError) return error.message;
  return `The package evaluator-runs failed (${error instanceof Error ? error.name : "unknown error"}).`;
}
