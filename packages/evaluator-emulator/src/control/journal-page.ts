import type { Journal, JournalEntry } from "../journal/journal.ts";

/** The journal as `GET /_emulator/journal` shows it, oldest request first. */
export function journalPage(journal: Journal) {
  return { requests: journal.list().map(toRequest) };
}

function toRequest({ startTime, ...entry }: JournalEntry) {
  return { ...entry, startedAt: new Date(startTime).toISOString() };
}
