import { readFile } from "node:fs/promises";

/** Returns the notes on messages in a decision log: feedback, thumbs and blind comparisons. */
export async function readNotes(path: string): Promise<object[]> {
  const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
  const records = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const notes = records.filter((record) => !("outcome" in record));
  return notes.map(({ time: _time, instance: _instance, ...note }) => note);
}
