import { BlockList, isIP } from "node:net";

const ranges = new BlockList();
for (const [address, prefixBits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
] as const)
  ranges.addSubnet(address, prefixBits);
for (const [address, prefixBits] of [
  ["::", 127],
  ["fc00::", 7],
  ["fe80::", 10],
] as const)
  ranges.addSubnet(address, prefixBits, "ipv6");

/** Names without a dot and these are of a local network (RFC 6761, 6762, 8375). */
const ownName = /^[^.]+$|\.(?:localhost|local|lan|internal|home\.arpa)$/;

/** Whether a URL's host is this machine or on its own network, as far as its name shows; false without a URL. */
export function isOwnNetwork(serverUrl: URL | null): boolean {
  if (serverUrl === null) return false;
  const host = serverUrl.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  const version = isIP(host);
  return version === 0 ? ownName.test(host) : ranges.check(host, version === 4 ? "ipv4" : "ipv6");
}
