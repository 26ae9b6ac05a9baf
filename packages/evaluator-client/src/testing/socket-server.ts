import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { createSecureContext, type SecureContext, TLSSocket } from "node:tls";
import { listenOnNewPort } from "./loopback-port.ts";
import { playHttp2 } from "./played-stream.ts";
import { trustedCertificate } from "./trusted-certificate.ts";

/** A bare TCP server for what an HTTP mock cannot play: exact bytes, resets, cut bodies. */
export interface SocketServer extends AsyncDisposable {
  /** Where it listens, such as `http://127.0.0.1:40123`. */
  readonly origin: string;
  /** Every whole request so far, head and body, as received. */
  readonly requests: string[];
  /** How many connections were opened so far; behind TLS, how many finished its handshake. */
  readonly connections: number;
}

/** Answers one whole request, given its number from 0 and its text. */
export type Respond = (socket: Socket, index: number, request: string) => void;

/** Listens on loopback and answers each whole request. */
export type Listen = (respond: Respond) => Promise<SocketServer>;

/** The kinds of server that play exact bytes: plain, and behind TLS. */
const http1Servers: [string, Listen][] = [
  ["over HTTP", (respond) => listenOnSocket(respond)],
  ["over TLS", (respond) => listenOnSocket(respond, trustedCertificate())],
];

/** All kinds of server: also one whose TLS offers h2, as a real gateway's does. */
export const servers: [string, Listen][] = [
  ...http1Servers,
  [
    "over TLS that offers h2",
    (respond) => listenOnSocket(respond, { ...trustedCertificate(), hasHttp2: true }),
  ],
];

/**
 * Listens on loopback, behind TLS when given a certificate, and answers each whole request. HTTP/2 "as
 * bytes" is agreed on and not spoken: its preface is answered as a request.
 */
export async function listenOnSocket(
  respond: Respond,
  certificate?: { key: string; cert: string; hasHttp2?: boolean | "as bytes" },
): Promise<SocketServer> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const secureContext =
    certificate && (secureContexts[certificate.cert] ??= createSecureContext(certificate));
  let connections = 0;
  const onRequest = (socket: Socket, request: string) =>
    respond(socket, requests.push(request) - 1, request);
  const connect = (socket: Socket) => {
    connections += 1;
    if (certificate?.hasHttp2 === true && isHttp2(socket))
      return playHttp2({ secured: socket, onRequest });
    let received = "";
    socket.on("data", (bytes) => {
      received += bytes.toString("utf8");
      if (!isWhole(received)) return;
      const request = received;
      received = "";
      onRequest(socket, request);
    });
  };
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    if (secureContext === undefined) connect(socket);
    else secure(socket, { secureContext, hasHttp2: Boolean(certificate?.hasHttp2), connect });
  });
  const port = await listenOnNewPort(server);
  return {
    origin: `${certificate ? "https" : "http"}://127.0.0.1:${port}`,
    requests,
    get connections() {
      return connections;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

// By certificate: each takes 0.4 ms to make, and a thousand servers have one.
const secureContexts: Record<string, SecureContext> = {};

interface Securing {
  readonly secureContext: SecureContext;
  readonly hasHttp2: boolean;
  readonly connect: (socket: Socket) => void;
}

/** Puts TLS on a socket. */
function secure(socket: Socket, { secureContext, hasHttp2, connect }: Securing): void {
  const secured = new TLSSocket(socket, {
    isServer: true,
    secureContext,
    ALPNProtocols: hasHttp2 ? ["h2", "http/1.1"] : ["http/1.1"],
  });
  secured.on("error", () => undefined);
  secured.resetAndDestroy = () => {
    socket.resetAndDestroy();
    return secured;
  };
  secured.once("secure", () => connect(secured));
}

function isHttp2(socket: Socket): socket is TLSSocket {
  return socket instanceof TLSSocket && socket.alpnProtocol === "h2";
}

/** Returns a whole HTTP response as bytes. */
export function httpResponse(
  status: number,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): Uint8Array {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
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
