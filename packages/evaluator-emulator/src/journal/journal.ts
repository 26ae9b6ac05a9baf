/** One request as the journal keeps it: no key, no header value beyond the model id, no body. */
export interface JournalEntry {
  /** Counts from 1. */
  readonly number: number;
  /** Epoch milliseconds. */
  readonly startTime: number;
  readonly method: string;
  readonly path: string;
  /** The model the caller's header asks for, or null. */
  readonly model: string | null;
  /** The number of the key's account, in the order accounts were opened, or null. */
  readonly account: number | null;
  /** Null while unanswered, and for a call that gets no response. */
  status: number | null;
  /** What the emulator's own header said, such as `basis=lexical`, or null. */
  note: string | null;
  /** How the response ended on the wire, or null while unanswered. */
  ending: string | null;
}

/** The latest requests, oldest first. */
export interface Journal {
  /** Notes a request; the caller completes the entry. */
  add(entry: Omit<JournalEntry, "number" | "status" | "note" | "ending">): JournalEntry;
  list(): readonly JournalEntry[];
  reset(): void;
}

/** @param capacity - How many requests are kept; the oldest are forgotten first. */
export function createJournal(capacity = 1000): Journal {
  let entries: JournalEntry[] = [];
  let count = 0;
  return {
    add(request) {
      count += 1;
      const entry = { ...request, number: count, status: null, note: null, ending: null };
      entries.push(entry);
      if (entries.length > 2 * capacity) entries = entries.slice(-capacity);
      return entry;
    },
    list: () => entries.slice(-capacity),
    reset() {
      entries = [];
      count = 0;
    },
  };
}
