/** Returns the text of a JSON array, one piece for each item, indented by two. */
export async function* toJsonArray(
  items: Iterable<unknown> | AsyncIterable<unknown>,
): AsyncGenerator<string> {
  let before = "[\n  ";
  for await (const item of items) {
    yield before + JSON.stringify(item, null, 2).replaceAll("\n", "\n  ");
    before = ",\n  ";
  }
  yield before === ",\n  " ? "\n]\n" : "[]\n";
}
