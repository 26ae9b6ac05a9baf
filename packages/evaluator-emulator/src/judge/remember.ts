/** How results are kept. */
export interface Memory<TInput> {
  /** Inputs with the same key have the same result. */
  readonly keyOf: (input: TInput) => string;
  /** How many results are kept; beyond it the oldest is forgotten first. */
  readonly capacity: number;
}

/** Wraps a pure function so that its latest results are kept. */
export function remember<TInput, TResult>(
  compute: (input: TInput) => TResult,
  { keyOf, capacity }: Memory<TInput>,
): (input: TInput) => TResult {
  const results = new Map<string, TResult>();
  return (input) => {
    const key = keyOf(input);
    const known = results.get(key);
    if (known !== undefined) return known;
    const result = compute(input);
    results.set(key, result);
    const [oldest] = results.keys();
    if (results.size > capacity && oldest !== undefined) results.delete(oldest);
    return result;
  };
}
