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
  warn: (warningLine: string) => void,
  openStore: (databaseUrl: string) => Promise<OpenStore> = async (databaseAddress) =>
    (await import("evaluator-runs/postgres")).postgresLimits(databaseAddress),
) {
  const openedSignal = Promise.withResolvers<OpenStore>();
  let opening: Promise<OpenStore> | null = null;
  let isLost = false;
  let lostReason = noAnswer;
  const onStoreChange = (isDown: boolean) => {
    if (isDown && !isLost) warn(`ROUTER_LIMITS: ${lostReason} ${lostText}\n`);
    if (isLost && !isDown) {
      warn("ROUTER_LIMITS: the database answers again; the limit is shared.\n");
    }
    isLost = isDown;
    lostReason = noAnswer;
  };
  /** Opens the store at the first call, or at a later one if that fails. */
  const reachStore = async () => {
    if (opening !== null) return await opening;
    opening = openStore(url);
    const reachedStore = await opening.catch((error: unknown) => {
      opening = null;
      throw error;
    });
    openedSignal.resolve(reachedStore);
    onStoreChange(false); // a pacer reports only a store that it lost itself
    return reachedStore;
  };
  async function withStore<TResult>(use: (store: OpenStore) => Promise<TResult>): Promise<TResult> {
    return await reachStore()
      .then(use)
      .catch((error: unknown) => {
        lostReason = describe(error);
        throw error;
      });
  }
  const store: LimitStore = {
    read: (limitKey) => withStore((openedStore) => openedStore.read(limitKey)),
    swap: (key, version, row) => withStore((openedStore) => openedStore.swap(key, version, row)),
    onPause(limitKey, listener) {
      const listening = openedSignal.promise.then((store) => store.onPause(limitKey, listener));
      return () => void listening.then((endListening) => endListening());
    },
  };
  await withStore(async () => {}).catch((error: unknown) => {
    if (mayHeal(error)) return onStoreChange(true);
    throw new CliError(`ROUTER_LIMITS: ${lostReason}`, { cause: error });
  });
  return {
    /** Creates the pacer of all routers that ask the same service with the same key. */
    pacerFor(this: void, transport: Transport, secret: string) {
      const ownLimits = transport.limits ?? {};
      const key = hash("sha256", `${transport.target?.url ?? ""}\n${secret}`);
      const allRequests = requestsPerMinute ?? ownLimits.requestsPerMinute ?? REQUESTS_PER_MINUTE;
      const limits = { ...ownLimits, requestsPerMinute: allRequests };
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
