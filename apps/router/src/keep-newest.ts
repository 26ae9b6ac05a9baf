/** Chosen: a new iterator passes the places of all deleted entries, which is 15 µs; an old one keeps them in memory. */
const SETS_OF_AN_ITERATOR = 1000;

/** Returns what sets an entry of a map as the newest, and deletes the oldest beyond so many. */
export function keepNewest<TValue>(valuesByKey: Map<string, TValue>, mostEntries: number) {
  let oldestKeys = valuesByKey.keys();
  let setCount = 0;
  return (entryKey: string, entryValue: TValue): void => {
    valuesByKey.delete(entryKey);
    valuesByKey.set(entryKey, entryValue);
    setCount += 1;
    if (setCount % SETS_OF_AN_ITERATOR === 0) oldestKeys = valuesByKey.keys();
    if (valuesByKey.size > mostEntries) valuesByKey.delete(oldestKeys.next().value ?? entryKey);
  };
}
