import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { StartError } from "./start-error.ts";

const advice: Readonly<Record<string, string>> = {
  EADDRINUSE: "is taken; stop what uses it, or set PORT to a free one, such as PORT=3001",
  EACCES: "may not be opened by this user; set PORT to one above 1023, such as PORT=3000",
  EADDRNOTAVAIL: "is not on this machine; set HOST to 127.0.0.1",
};

/**
 * Listens, and gives the port that was taken.
 *
 * @throws StartError that names the port and what to do.
 */
export async function listen(
  server: Server,
  { host, port }: { host: string; port: number },
): Promise<number> {
  server.listen({ host, port });
  try {
    await once(server, "listening");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const problem = advice[code] ?? `cannot be opened (${code}); set HOST and PORT`;
    throw new StartError(`Port ${port} on ${host} ${problem}.`, { cause: error });
  }
  return (server.address() as AddressInfo).port;
}
