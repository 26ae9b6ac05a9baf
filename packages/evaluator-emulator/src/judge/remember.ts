/**
 * Wraps a pure function of a text so that the latest results are kept.
 *
 * @param capacity - How many; beyond it the oldest is forgotten first.
 */
export function remember<TResult>(
  compute: (text: string) => TResult,
  capacity: number,
): (text: string) => TResult {
  const results = new Map<string, TResult>();
  return (text) => {
    const known = results.get(text);
    if (known !== undefined) return known;
    const result = compute(text);
    results.set(text, result);
    const [oldest] = results.keys();
    if (results.size > capacity && oldest !== undefined) results.delete(oldest);
    return result;
  };
}
