import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

/** A bare TCP server for what an HTTP mock cannot play: exact bytes, resets, cut bodies. */
export interface SocketServer extends AsyncDisposable {
  /** Where it listens, such as `http://127.0.0.1:40123`. */
  readonly origin: string;
  /** Every whole request so far, head and body, as received. */
  readonly requests: string[];
}

/** Listens on loopback and hands each whole request to `respond`, with its number from 0. */
export async function listenOnSocket(
  respond: (socket: Socket, index: number) => void,
): Promise<SocketServer> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    let received = "";
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => {
      received += bytes.toString("utf8");
      if (!isWhole(received)) return;
      requests.push(received);
      received = "";
      respond(socket, requests.length - 1);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** A whole HTTP response as bytes. */
export function httpResponse(
  status: number,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): Uint8Array {
  const bytes = typeof body === "string" ? Buffer.from(body) : Buffer.from(body);
  const all = { "Content-Type": "application/json", "Content-Length": bytes.length, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} X\r\n${lines.join("")}\r\n`), bytes]);
}

function isWhole(request: string): boolean {
  const headEnd = request.indexOf("\r\n\r\n");
  if (headEnd < 0) return false;
  const length = Number(/content-length: (\d+)/i.exec(request)?.[1] ?? 0);
  return Buffer.byteLength(request.slice(headEnd + 4)) >= length;
}
