/** Gives the text of a file with one JSON value a line. */
export function* toJsonLines(items: Iterable<unknown>): Generator<string> {
  for (const item of items) yield `${JSON.stringify(item)}\n`;
}
