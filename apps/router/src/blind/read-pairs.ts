import { tierNames } from "../decision/tier-question.ts";
import { visitLatest } from "../report/latest-messages.ts";
import { type BlindNote, noteOf } from "../report/read-records.ts";
import type { BlindPair } from "./blind-figures.ts";

type Pair = NonNullable<BlindNote["pair"]>;
type Note = NonNullable<ReturnType<typeof noteOf>>;

/** The part of the log that is read: eight hundred comparisons at a share of 2 %. */
const MOST_BYTES = 32 * 1024 * 1024;

/** Reads the blind comparisons in the latest part of a log, each with the last thumb for its message. */
export async function readPairs(path: string): Promise<BlindPair[]> {
  const pairs = new Map<string, Pair>();
  const thumbs = new Map<string, Note>();
  await visitLatest(path, { mostBytes: MOST_BYTES }, (line) => {
    const note = noteOf(line);
    if (note?.blind?.pair) pairs.set(note.requestId, note.blind.pair);
    else if (note !== null && !thumbs.has(note.requestId)) thumbs.set(note.requestId, note);
    return true;
  });
  return Array.from(pairs, ([id, pair]) => ({ ...pair, isGood: isGood(pair, thumbs.get(id)) }));
}

/** A reply was good if no dearer tier was needed. */
function isGood({ routed }: Pair, note: Note | undefined): boolean | null {
  if (note?.thumb !== undefined) return note.thumb === "up";
  if (note?.feedback === undefined || routed.tier === null) return null;
  return tierNames.indexOf(note.feedback) <= tierNames.indexOf(routed.tier);
}
