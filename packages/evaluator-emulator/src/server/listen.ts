import { once } from "node:events";
import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { isLoopbackHost, loopbackOnly } from "./loopback-host.ts";

/** A running HTTP server. */
export interface Listener {
  /** Such as `http://127.0.0.1:8787`. */
  readonly origin: string;
  /** Stops it and ends its open connections. */
  close(): Promise<void>;
}

/**
 * Serves a handler over HTTP on this machine.
 *
 * @param port - 0 takes any free port.
 * @throws {Error} when the host is not a loopback one, or the port is taken.
 */
export async function listen(
  handle: (request: Request) => Response | Promise<Response>,
  { host, port }: { host: string; port: number },
): Promise<Listener> {
  if (!isLoopbackHost(host)) {
    throw new Error(`The emulator listens on loopback only; "${host}" is not a loopback host.`);
  }
  // The process may hold clients that rely on Node's own Request and Response.
  const listener = getRequestListener(loopbackOnly(handle), { overrideGlobalObjects: false });
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing));
  server.listen(port, host);
  await once(server, "listening").catch((error: unknown) => {
    throw describeListenError(error, port);
  });
  return {
    origin: `http://${host.includes(":") ? `[${host}]` : host}:${portOf(server.address())}`,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function portOf(address: ReturnType<ReturnType<typeof createServer>["address"]>): number {
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return address.port;
}

function describeListenError(error: unknown, port: number): unknown {
  const code = error instanceof Error && "code" in error ? error.code : null;
  if (code === "EADDRINUSE") {
    return new Error(`Port ${port} is taken; choose another one, or 0 for any free port.`);
  }
  if (code === "EACCES") return new Error(`Port ${port} needs rights this process does not have.`);
  return error;
}
