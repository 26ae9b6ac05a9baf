/** What a client may take of the server; times in milliseconds. */
export interface ServerLimits {
  /** Time for a request's headers, from the first moment of a connection. */
  readonly headersTimeout: number;
  /** Time for a whole request, its body included. */
  readonly requestTimeout: number;
  /** How often those times are looked at. */
  readonly connectionsCheckingInterval: number;
  /** Time an idle connection stays open for a next request. */
  readonly keepAliveTimeout: number;
  /** All headers together, in bytes. */
  readonly maxHeaderSize: number;
  /** Connections at once; one more is told to come back. */
  readonly maxConnections: number;
  /** Time that answers in flight have when the router stops. */
  readonly graceMs: number;
}

/** Generous for people and programs, tight for those who only hold connections open. */
export const defaultServerLimits: ServerLimits = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 1000,
  keepAliveTimeout: 5000,
  maxHeaderSize: 16 * 1024,
  maxConnections: 1024,
  graceMs: 60_000,
};
