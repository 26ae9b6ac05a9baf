import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { emailRequest, gatewayBody } from "../testing/email-evaluation.ts";
import { gatewayTransport } from "../transports/gateway/gateway-transport.ts";

/** Listens on loopback, and refuses the first request and every hundredth after it. */
async function listen() {
  const counts = { requests: 0, refusals: 0 };
  const server = createServer((request, response) => {
    const isRefused = counts.requests % 100 === 0;
    counts.requests += 1;
    if (isRefused) counts.refusals += 1;
    const head = { "Content-Type": "application/json", ...(isRefused && { "Retry-After": "1" }) };
    request.resume();
    request.on("end", () => {
      response
        .writeHead(isRefused ? 429 : 200, head)
        .end(JSON.stringify(isRefused ? {} : gatewayBody));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.close();
    server.closeAllConnections();
  };
  return { counts, baseUrl: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: close };
}

test("a server that refuses the first and every hundredth request holds no other call up", async () => {
  await using server = await listen();
  const transport = gatewayTransport({ apiKey: "a-key", baseUrl: server.baseUrl, env: {} });
  const waits: string[] = [];
  await using evaluator = createEvaluator({
    transport,
    onWait: ({ reason }) => waits.push(reason),
  });
  const requests = Array.from({ length: 300 }, () => emailRequest);
  const batch = evaluator.evaluateMany(requests, { concurrency: 16 });
  while (!(await batch.next()).done);
  expect(batch.totals).toMatchObject({ succeeded: 300, failed: 0 });
  expect(server.counts).toEqual({ requests: 304, refusals: 4 });
  // Each refused call waits by itself. A pause for all would be a wait for the rate limit.
  expect(waits).toEqual(["backoff", "backoff", "backoff", "backoff"]);
});
