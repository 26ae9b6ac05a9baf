import { TriageError } from "../errors.ts";
import { plainMessage } from "../text/plain-message.ts";

const moveIt = "Move it away to start a new one; the answers in it are then asked for again.";

// Result codes of SQLite, without the extension in their upper bits.
const reasons = new Map([
  [5, "is in use by another run. Wait for its end, or end it."],
  [8, "cannot be written. Check the rights of the file and its folder."],
  [10, "cannot be written or read: the disk fails or is full. Make room and run again."],
  [11, `is damaged. ${moveIt}`],
  [13, "cannot be written: the disk is full. Make room and run again."],
  [14, "cannot be opened. Check the rights of the file and its folder."],
  [26, `is not a journal. ${moveIt}`],
]);

/** Says what is wrong with a journal; an error of something else passes as it is. */
export function toJournalError(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || !("errcode" in error)) return error;
  const reason = reasons.get(Number(error.errcode) & 0xff) ?? `cannot be used: ${error.message}.`;
  return new TriageError(plainMessage`The journal ${path} ${reason}`, { cause: error });
}
