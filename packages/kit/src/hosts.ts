import { isIPv4 } from "node:net";

/** Returns whether only this machine can reach a host to listen on. */
export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
}

/** Returns an address as in a URL, with IPv6 in brackets. */
export function toHostname(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}

/**
 * Returns whether a request to a local server comes from a foreign page: its host is neither loopback
 * nor one of `names` (DNS rebinding), or its origin, which only browsers send, is another site.
 */
export function isForeignRequest(
  { host, origin }: { readonly [THeader in "host" | "origin"]?: string | null | undefined },
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
