import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server } from "node:net";

const usedPorts = new Set<number>();

/**
 * Listens on a port of loopback that no earlier server of this process had. All evaluators share the
 * connections to an origin, and one to an earlier server may not be known to be lost yet.
 */
export async function listenOnNewPort(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  if (!usedPorts.has(port)) {
    usedPorts.add(port);
    return port;
  }
  server.close();
  await once(server, "close");
  return listenOnNewPort(server);
}

/** Holds a port where nobody listens: a connection begins there, so that no other process gets it. */
export async function holdClosedPort(): Promise<{ readonly host: string } & Disposable> {
  const server = createServer();
  const socket = connect(await listenOnNewPort(server), "127.0.0.1");
  await once(socket, "connect");
  return {
    host: `127.0.0.1:${socket.localPort}`,
    [Symbol.dispose]() {
      socket.destroy();
      server.close();
    },
  };
}
