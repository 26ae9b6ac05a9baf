import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Deliver } from "./delivery.ts";
import { httpCall } from "./http-call.ts";
import { isLoopbackHost } from "./loopback-host.ts";
import type { Reply } from "./reply.ts";
import { refuseForeignHost } from "./refuse-foreign-host.ts";
import { sendOverHttp } from "./send-over-http.ts";

/** A running HTTP server. */
export interface Listener {
  /** Such as `http://127.0.0.1:8787`. */
  readonly origin: string;
  /** Stops it and ends its open connections. */
  close(): Promise<void>;
}

/**
 * Serves calls over HTTP on this machine.
 *
 * @param port - 0 takes any free port.
 * @throws {Error} when the host is not a loopback one, or the port is taken.
 */
export async function listen(
  deliver: Deliver,
  { host, port }: { host: string; port: number },
): Promise<Listener> {
  if (!isLoopbackHost(host)) {
    throw new Error(`The emulator listens on loopback only; "${host}" is not a loopback host.`);
  }
  const server = createServer((incoming, outgoing) => void serve(deliver, incoming, outgoing));
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

async function serve(
  deliver: Deliver,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const call = httpCall(incoming, outgoing);
  const refusal = refuseForeignHost(call);
  try {
    const delivery = refusal === null ? await deliver(call) : wholly(refusal);
    if (!outgoing.destroyed) await sendOverHttp(outgoing, delivery);
  } catch {
    // The caller left while its call was held up.
    outgoing.destroy();
  }
}

function wholly(reply: Reply) {
  return { reply, ending: "whole" } as const;
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
