import { once } from "node:events";
import { createSecureServer } from "node:http2";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { selfSignedCertificate } from "evaluator-kit";
import { serveParent } from "evaluator-kit/child";
import { cannedReplies } from "../process/canned-server.ts";
import { sampleExchanges } from "../sample-requests.ts";

/** How far away the server is, each way, and how long it takes for an answer; in milliseconds. */
export const distance = { oneWayMs: 10, serviceMs: 20 };

const { oneWayMs, serviceMs } = distance;
const certificate = selfSignedCertificate();

const service = {
  /** Starts a server that offers HTTP/2 and HTTP/1.1 over TLS, behind a delay; returns its origin and certificate. */
  async listen() {
    const replies = await cannedReplies(sampleExchanges.mail);
    const options = { ...certificate, allowHTTP1: true };
    const server = createSecureServer(options, (request, response) => {
      const reply = replies.get(`${request.method} ${request.url}`) ?? Buffer.from("");
      const body = reply.subarray(reply.indexOf("\r\n\r\n") + 4);
      response.setHeader("content-type", "application/json");
      request.resume().once("end", () => setTimeout(() => response.end(body), serviceMs));
    });
    const target = await portOf(server);
    const relay = createServer({ noDelay: true }, (near) => {
      const far = connect({ port: target, host: "127.0.0.1", noDelay: true });
      passLate(near, far);
      passLate(far, near);
    });
    return { origin: `https://localhost:${await portOf(relay)}`, ca: certificate.cert };
  },
};

async function portOf(server: ReturnType<typeof createServer>): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

function passLate(from: Socket, to: Socket): void {
  from.on("data", (chunk) => setTimeout(() => to.writable && to.write(chunk), oneWayMs));
  from.on("error", () => to.destroy()).once("close", () => setTimeout(() => to.end(), oneWayMs));
}

/** The calls that the process of the server takes. */
export type DistantService = typeof service;

serveParent(service);
