import { once } from "node:events";
import { createServer, request } from "node:http";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { listenOnNewPort } from "./loopback-port.ts";

/** A proxy on loopback that tunnels and forwards, or rejects with a status. */
export interface ProxyServer extends AsyncDisposable {
  readonly origin: string;
  /** What it was asked for so far: `CONNECT host:port`, or the method and the whole URL. */
  readonly asked: string[];
  /** The credentials it was given so far. */
  readonly credentials: (string | undefined)[];
}

/** Listens as a real proxy does; a status other than 200 rejects every request. */
export async function listenAsProxy(status = 200): Promise<ProxyServer> {
  const asked: string[] = [];
  const credentials: (string | undefined)[] = [];
  const sockets = new Set<Duplex>();
  const server = createServer((incoming, response) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    credentials.push(incoming.headers["proxy-authorization"]);
    if (status !== 200) {
      response.writeHead(status).end();
      return;
    }
    const { method, headers } = incoming;
    const outgoing = request(incoming.url ?? "", { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(outgoing);
  });
  server.on("connection", (socket) => sockets.add(socket));
  server.on("connect", (incoming, socket: Duplex) => {
    asked.push(`CONNECT ${incoming.url}`);
    credentials.push(incoming.headers["proxy-authorization"]);
    socket.on("error", () => undefined);
    if (status !== 200) {
      socket.end(`HTTP/1.1 ${status} Refused\r\n\r\n`);
      return;
    }
    const { hostname, port } = new URL(`http://${incoming.url}`);
    const onward = connect(Number(port), hostname, () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      socket.pipe(onward).pipe(socket);
    });
    onward.on("error", () => socket.destroy());
    sockets.add(onward);
  });
  const port = await listenOnNewPort(server);
  return {
    origin: `http://127.0.0.1:${port}`,
    asked,
    credentials,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
