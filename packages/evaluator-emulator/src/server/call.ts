/** One request, the same whether it came over HTTP or through `fetch`. */
export interface Call {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Aborts when the caller leaves. */
  readonly signal: AbortSignal;
  /** The value of a header by its lower-case name, or null. */
  readonly header: (name: string) => string | null;
  /**
   * The body as text; a second read gives the same.
   *
   * @throws {UnreadableBody} when it is too large or ends early.
   */
  readonly readText: () => Promise<string>;
}
