import { isIPv4 } from "node:net";

/** Returns whether a host to listen on can be reached from this machine only. */
export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
}

/** Returns an address as a URL writes it: IPv6 in brackets. */
export function toHostname(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}

/** What a request says about where it was sent to and from. */
export interface RequestSource {
  /** The header `host`. */
  readonly host?: string | null | undefined;
  /** The header `origin`, which browsers send; other clients send none. */
  readonly origin?: string | null | undefined;
}

/**
 * Returns whether a request to a server of this machine is a foreign page's: under a name that is
 * not loopback, as DNS rebinding would send it, or from another site's origin.
 *
 * @param names - Names that are not foreign either. @default none
 */
export function isForeignRequest(
  { host, origin }: RequestSource,
  names: readonly string[] = [],
): boolean {
  const isOwn = (name: string) => isLoopbackName(name) || names.includes(name.toLowerCase());
  if (!isOwn((host ?? "").replace(/:\d{1,5}$/, ""))) return true;
  if (origin === null || origin === undefined) return false;
  const url = URL.parse(origin);
  return url === null || !isOwn(url.hostname);
}

// Every name under "localhost" means this machine (RFC 6761).
function isLoopbackName(name: string): boolean {
  const lower = name.toLowerCase();
  return lower === "[::1]" || lower.endsWith(".localhost") || isLoopbackHost(lower);
}
