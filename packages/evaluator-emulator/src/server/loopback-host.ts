const loopbackPattern = /^(?:localhost|[a-z0-9-]+\.localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i;

/** Whether a host name, without a port, means this machine only. */
export function isLoopbackHost(host: string): boolean {
  return loopbackPattern.test(host);
}
