/** Returns items in groups of `size`, the last one shorter. */
export async function* inGroups<TItem>(
  items: AsyncIterable<TItem> | Iterable<TItem>,
  size: number,
): AsyncGenerator<TItem[]> {
  let group: TItem[] = [];
  for await (const item of items) {
    if (group.push(item) < size) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}
