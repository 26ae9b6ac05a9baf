import { networkInterfaces } from "node:os";
import { isLoopbackHost, toHostname } from "evaluator-kit";

/** Where a router listens, and what else leads to it. */
export interface ListeningAddresses {
  readonly host: string;
  readonly port: number;
  /** Further names a person allows, with or without a port. */
  readonly names?: readonly string[];
  /** This machine's own addresses, for a router that listens on more than loopback. */
  readonly addresses?: readonly string[];
}

/**
 * Returns the `Host` values a router on this address answers to. Any other, even one that leads
 * here, may be a foreign page's own name pointed at this machine (DNS rebinding).
 */
export function allowedHosts(listening: ListeningAddresses): ReadonlySet<string> {
  const { host, port, names = [], addresses = [] } = listening;
  const reachable = isLoopbackHost(host) ? [] : addresses;
  const own = ["localhost", "127.0.0.1", "[::1]", ...[host, ...reachable].map(toHostname)];
  const withPort = [...own, ...names].map((name) => `${name}:${port}`);
  return new Set(port === 80 ? [...own, ...withPort, ...names] : [...withPort, ...names]); // browsers leave :80 out
}

/** Returns the addresses of this machine's network interfaces. */
export function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).map(({ address }) => address),
  );
}

/** The addresses a router answers to. */
export interface AnsweredHosts {
  /** The `Host` values. */
  readonly hosts: ReadonlySet<string>;
  /** Those of them that a proxy may serve over https. @default none */
  readonly proxiedHosts?: readonly string[];
}

/** Returns the `Origin` values of the router's own page. */
export function ownOrigins({ hosts, proxiedHosts = [] }: AnsweredHosts): ReadonlySet<string> {
  const plain = [...hosts].map((host) => `http://${host}`);
  return new Set([...plain, ...proxiedHosts.map((host) => `https://${host}`)]);
}
