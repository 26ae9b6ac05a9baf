import { hash } from "node:crypto";
import { CliError } from "evaluator-kit";
import { EvaluatorError, type LimitStore, sharedPacer, type Transport } from "evaluator-client";

type OpenStore = LimitStore & AsyncDisposable;

/** The vendor's own limit (contract section 8). */
const REQUESTS_PER_MINUTE = 1200;

const noAnswer = "PostgreSQL does not answer.";
const lostText = "This router goes on with its own share of the limit until it can.";

/** Opens the limit that several routers share, later if need be. @throws CliError for settings that stay wrong. */
export async function openSharedLimit(
  { url, requestsPerMinute }: { url: string; requestsPerMinute: number | null },
  warn: (line: string) => void,
  open: (url: string) => Promise<OpenStore> = async (address) =>
    (await import("evaluator-runs/postgres")).postgresLimits(address),
) {
  const openedSignal = Promise.withResolvers<OpenStore>();
  let opening: Promise<OpenStore> | null = null;
  let isLost = false;
  let reason = noAnswer;
  const onStoreChange = (isDown: boolean) => {
    if (isDown && !isLost) warn(`ROUTER_LIMITS: ${reason} ${lostText}\n`);
    if (isLost && !isDown) {
      warn("ROUTER_LIMITS: the database answers again; the limit is shared.\n");
    }
    isLost = isDown;
    reason = noAnswer;
  };
  /** Opens the store at the first call, or at a later one if that fails. */
  const reach = async () => {
    if (opening !== null) return await opening;
    opening = open(url);
    const store = await opening.catch((error: unknown) => {
      opening = null;
      throw error;
    });
    openedSignal.resolve(store);
    onStoreChange(false); // a pacer reports only a store that it lost itself
    return store;
  };
  async function reached<TResult>(use: (store: OpenStore) => Promise<TResult>): Promise<TResult> {
    return await reach()
      .then(use)
      .catch((error: unknown) => {
        reason = describe(error);
        throw error;
      });
  }
  const store: LimitStore = {
    read: (key) => reached((openedStore) => openedStore.read(key)),
    swap: (key, version, row) => reached((openedStore) => openedStore.swap(key, version, row)),
    onPause(key, listener) {
      const listening = openedSignal.promise.then((store) => store.onPause(key, listener));
      return () => void listening.then((end) => end());
    },
  };
  await reached(async () => {}).catch((error: unknown) => {
    if (mayHeal(error)) return onStoreChange(true);
    throw new CliError(`ROUTER_LIMITS: ${reason}`, { cause: error });
  });
  return {
    /** Creates the pacer of all routers that ask the same service with the same key. */
    pacerFor(this: void, transport: Transport, secret: string) {
      const own = transport.limits ?? {};
      const key = hash("sha256", `${transport.target?.url ?? ""}\n${secret}`);
      const all = requestsPerMinute ?? own.requestsPerMinute ?? REQUESTS_PER_MINUTE;
      const limits = { ...own, requestsPerMinute: all };
      return sharedPacer({ store, key, limits, onStoreChange });
    },
    [Symbol.asyncDispose]: async () => (await opening?.catch(() => null))?.[Symbol.asyncDispose](),
  };
}

// A full disk gets room, and a replica becomes the primary.
function mayHeal(error: unknown): boolean {
  const isKnown = error instanceof EvaluatorError && "failure" in error;
  return (
    isKnown && (error.isRetryable || error.failure === "full" || error.failure === "read-only")
  );
}

/** A database's error never holds its address; of other errors, only the name is printed. */
function describe(error: unknown): string {
  if (error instanceof EvaluatorError) return error.message;
  return `The package evaluator-runs failed (${error instanceof Error ? error.name : "unknown error"}).`;
}
