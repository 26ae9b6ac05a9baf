/** Gives the items in their order, beginning with another one in each round. */
export function rotate<TItem>(items: readonly TItem[], round: number): TItem[] {
  const start = items.length === 0 ? 0 : round % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
}
