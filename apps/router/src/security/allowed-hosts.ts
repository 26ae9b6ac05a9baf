/**
 * The `Host` values a router on this address answers to. Any other, even one that leads here, may
 * be a foreign page's own name pointed at this machine (DNS rebinding).
 */
export function allowedHosts({ host, port }: { host: string; port: number }): ReadonlySet<string> {
  const names = ["localhost", "127.0.0.1", "[::1]", host.includes(":") ? `[${host}]` : host];
  const withPort = names.map((name) => `${name}:${port}`);
  return new Set(port === 80 ? [...names, ...withPort] : withPort); // browsers leave :80 out
}
