import { once } from "node:events";
import type { Server as HttpServer } from "node:http";
import type { Server as HttpsServer } from "node:https";
import { type AddressInfo, isIPv4, type Server } from "node:net";
import { CliError, describeSystemError, systemErrorCode } from "./errors.ts";

/** An address to listen on, and the names of its settings for messages. */
interface ListenOptions {
  /** @default "127.0.0.1" */
  readonly host?: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** The scheme of the origin. @default "http" */
  readonly protocol?: "http" | "https";
  /** The setting of the port, such as `PORT=`. @default "--port " */
  readonly portSetting?: string;
  /** The setting of the host, such as `HOST=`. @default "--host " */
  readonly hostSetting?: string;
  /** Gets a line if the port is taken; then the next free one is used. @default a taken port is an error */
  readonly warn?: ((line: string) => void) | undefined;
}

/** Starts to listen; returns the port and the origin. @throws CliError with the setting to change. */
export async function listen(server: Server, options: ListenOptions) {
  const { host = "127.0.0.1", protocol = "http", warn } = options;
  for (let { port } = options; !server.listening; port++) {
    server.listen({ host, port });
    await once(server, "listening").catch((error: unknown) => {
      if (warn && systemErrorCode(error) === "EADDRINUSE" && port < 65_535) return;
      const portProblem = describeProblem(error, options);
      throw new CliError(`Port ${port} on ${host} ${portProblem}.`, { cause: error });
    });
  }
  const { port } = server.address() as AddressInfo;
  if (options.port !== 0 && port !== options.port) {
    warn?.(`Port ${options.port} on ${host} is taken; this is port ${port}.\n`);
  }
  return { port, origin: `${protocol}://${toHostname(toCallable(host))}:${port}` };
}

/** Closes a server and its connections, and waits for the end. */
export async function closeServer(server: HttpServer | HttpsServer): Promise<void> {
  const closedPromise = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closedPromise;
}

/** Returns the loopback address for an address such as 0.0.0.0, which clients cannot call. */
function toCallable(host: string): string {
  if (host === "::") return "::1";
  return host === "0.0.0.0" ? "127.0.0.1" : host;
}

function describeProblem(
  error: unknown,
  { port, portSetting = "--port ", hostSetting = "--host " }: ListenOptions,
): string {
  const nextPort = port < 65_535 ? port + 1 : port - 1;
  const errorCode = systemErrorCode(error) ?? "unknown error";
  switch (errorCode) {
    case "EADDRINUSE":
      return `is taken; stop what uses it, or choose a free one, such as ${portSetting}${nextPort}`;
    case "EACCES":
      return `may not be opened; choose one above 1023, such as ${portSetting}3000`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `is not on this machine; choose ${hostSetting}127.0.0.1`;
    default:
      return `cannot be opened: ${describeSystemError(error) ?? errorCode}`;
  }
}

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
 * nor one of `allowedNames` (DNS rebinding), or its origin, which only browsers send, is another site.
 */
export function isForeignRequest(
  { host, origin }: { readonly [THeader in "host" | "origin"]?: string | null | undefined },
  allowedNames: readonly string[] = [],
): boolean {
  const isAllowed = (hostName: string) =>
    isLoopbackName(hostName) || allowedNames.includes(hostName.toLowerCase());
  if (!isAllowed((host ?? "").replace(/:\d{1,5}$/, ""))) return true;
  if (origin === null || origin === undefined) return false;
  const originUrl = URL.parse(origin);
  return originUrl === null || !isAllowed(originUrl.hostname);
}

// Every name under "localhost" means this machine (RFC 6761).
function isLoopbackName(hostName: string): boolean {
  const lowerName = hostName.toLowerCase();
  return lowerName === "[::1]" || lowerName.endsWith(".localhost") || isLoopbackHost(lowerName);
}
