import {
  type PackedRow,
  type RowHead,
  pickOf,
  type ShownQuestion,
  unpackHead,
  unpackValue,
} from "../mail-row.ts";
import type { Packs } from "./packs.ts";

/** How a list can be sorted. */
export type ListOrder = "urgent" | "newest" | "sender";

/** Which mails a reader wants to see, and in which order. */
export interface ListQuery {
  /** The indices of the section's mails in the whole list: from one on, up to another. */
  readonly from: number;
  readonly to: number;
  readonly isWhole: boolean;
  /** The option that a question's answer must pick; null for any. */
  readonly kind: { readonly at: number; readonly pick: number } | null;
  /** Words that sender, subject or snippet must hold, in lower case. */
  readonly words: readonly string[];
  readonly onlyNew: boolean;
  readonly order: ListOrder;
}

/** Which question says how urgent a mail is; `score` is -1 without one. */
interface ScoreFacts {
  readonly score: number;
  readonly questions: readonly ShownQuestion[];
}

/** Returns the indices of the mails that a query finds, in its order. */
export async function findMails(
  packs: Packs,
  query: ListQuery,
  facts: ScoreFacts,
): Promise<readonly number[]> {
  const { from, to, isWhole, kind, words, onlyNew, order } = query;
  // A section is sorted by urgency already, so nothing is opened for it.
  if (!isWhole && order === "urgent" && words.length === 0 && !onlyNew) {
    return Array.from({ length: to - from }, (_, at) => from + at);
  }
  const found: { index: number; key: string | number; day: string }[] = [];
  for await (const { index, row } of packs.all()) {
    const head = unpackHead(row);
    if (index < from || index >= to || (onlyNew && !head.isNew) || !hasWords(head, words)) continue;
    if (!isOfKind(row, kind, facts)) continue;
    const key = order === "urgent" ? urgencyOf(row, facts) : order === "sender" ? head.sender : 0;
    found.push({ index, key: typeof key === "string" ? key.toLowerCase() : key, day: head.day });
  }
  // Of a section the indices say what is urgent in it.
  if (!isWhole && order === "urgent") return found.map(({ index }) => index);
  const compare = (one: (typeof found)[number], other: (typeof found)[number]) =>
    (one.key < other.key ? -1 : Number(one.key > other.key)) ||
    (one.day > other.day ? -1 : Number(one.day < other.day)) ||
    one.index - other.index;
  return found.toSorted(compare).map(({ index }) => index);
}

// The most urgent first.
function urgencyOf(row: PackedRow, { score, questions }: ScoreFacts): number {
  return score === -1 ? 0 : -(unpackValue(row, score, questions) ?? -1);
}

function isOfKind(row: PackedRow, kind: ListQuery["kind"], { questions }: ScoreFacts): boolean {
  if (kind === null) return true;
  const [question, value] = [questions[kind.at], unpackValue(row, kind.at, questions)];
  return question !== undefined && value !== null && pickOf(question, value) === kind.pick;
}

function hasWords(
  { sender, address, subject, snippet }: RowHead,
  words: readonly string[],
): boolean {
  if (words.length === 0) return true;
  const text = `${sender} ${address} ${subject} ${snippet}`.toLowerCase();
  return words.every((word) => text.includes(word));
}
