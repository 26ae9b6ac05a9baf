/** Runs a function at the first call and gives its result at every call. */
export function onceOnly<TResult>(compute: () => TResult): () => TResult {
  let computed: { readonly result: TResult } | null = null;
  return () => {
    computed ??= { result: compute() };
    return computed.result;
  };
}
