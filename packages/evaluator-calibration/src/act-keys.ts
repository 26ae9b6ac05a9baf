import type { LockedThreshold } from "./artifact.ts";
import { jsonHash } from "./math/json-hash.ts";
import { stateHash } from "./math/random.ts";
import { toHundredths } from "./thresholds/risk-coverage.ts";

interface Act {
  readonly act: string;
  readonly sureness: number;
}

interface KeyedAct extends Act {
  readonly id: string;
  /** The hash of the record's state; null if the promise does not name states. */
  readonly state: string | null;
}

/** Returns the key of an act in a promise about exactly some records: it changes with the id, the state and the printed answer. */
export function actKey({ id, act, sureness, state }: KeyedAct): string {
  return jsonHash([id, act, toHundredths(sureness), ...(state === null ? [] : [state])]);
}

const recordKeys = new WeakMap<LockedThreshold, ReadonlySet<string>>();

/** Returns whether a promise is about records like the labelled ones, or about exactly some of which this is one. */
export function isAbout(
  lockedThreshold: LockedThreshold,
  { id, state, ...act }: Act & { readonly id: string | undefined; readonly state: unknown },
): boolean {
  const { these } = lockedThreshold;
  if (these === undefined) return true;
  const ownKeys = recordKeys.get(lockedThreshold) ?? new Set(these.records);
  recordKeys.set(lockedThreshold, ownKeys);
  if (id === undefined) return false;
  const isNamed = these.hasStates === true && state !== undefined;
  return ownKeys.has(actKey({ ...act, id, state: isNamed ? stateHash(state) : null }));
}
