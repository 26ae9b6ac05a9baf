import { cutGraphemes } from "../text/cut-graphemes.ts";
import { plainText } from "../text/plain-text.ts";
import { recordId } from "./record-id.ts";

/** Names a record in a message by its index (from 0) and its id, and by nothing else of it. */
export function recordLabel(index: number, record: unknown): string {
  const id = recordId(record);
  const shown = id === null ? "no id" : `id "${cutGraphemes(plainText(id), 60)}"`;
  return `record at index ${index} (${shown})`;
}
