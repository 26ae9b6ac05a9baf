import { isLoopback } from "./is-loopback.ts";

/** Where a router listens, and what else leads to it. */
export interface ListeningPlace {
  readonly host: string;
  readonly port: number;
  /** Further names a person allows, with or without a port. */
  readonly names?: readonly string[];
  /** This machine's own addresses, for a router that listens on more than loopback. */
  readonly addresses?: readonly string[];
}

/**
 * The `Host` values a router on this address answers to. Any other, even one that leads here, may
 * be a foreign page's own name pointed at this machine (DNS rebinding).
 */
export function allowedHosts(place: ListeningPlace): ReadonlySet<string> {
  const { host, port, names = [], addresses = [] } = place;
  const reachable = isLoopback(host) ? [] : addresses;
  const own = ["localhost", "127.0.0.1", "[::1]", ...[host, ...reachable].map(toHostname)];
  const withPort = [...own, ...names].map((name) => `${name}:${port}`);
  return new Set(port === 80 ? [...own, ...withPort, ...names] : [...withPort, ...names]); // browsers leave :80 out
}

/** An address as a URL writes it. */
export function toHostname(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}
