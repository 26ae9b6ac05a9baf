import { expect, test } from "vitest";
import { rawClient, rawRequest, sendRaw } from "./testing/raw-client.ts";
import { startTestRouter } from "./testing/test-router.ts";

const patiently = { timeout: 120_000 };

test("a connection beyond the limit is answered with a 503, and room comes back", async () => {
  const { origin, host } = await startTestRouter({}, { limits: { maxConnections: 1 } });
  const { socket, received } = await rawClient(origin);
  const request = rawRequest("GET /healthz", [`Host: ${host}`]);
  const answer = await sendRaw(origin, request);
  expect(answer).toMatch(/^HTTP\/1\.1 503 [^]+\r\nRetry-After: 1\r\n[^]+\r\n\r\n\{"error":/);
  expect((await fetch(`${origin}/healthz`)).status).toBe(503);
  socket.destroy();
  await received;
  await expect.poll(() => sendRaw(origin, request), patiently).toMatch(/^HTTP\/1\.1 200 /);
});

test("a flood of connections is let go, asked or not, and the router goes on", async () => {
  const { origin, host, defects } = await startTestRouter({}, { limits: { maxConnections: 1 } });
  const holder = await rawClient(origin);
  const request = rawRequest("GET /healthz", [`Host: ${host}`]);
  const flood = Array.from({ length: 400 }, (_, index) =>
    rawClient(origin, index % 2 === 0 ? "" : request),
  );
  const answers = await Promise.all((await Promise.all(flood)).map(({ received }) => received));
  const rejected = answers.filter((answer) => answer !== "");
  expect(rejected.length).toBeGreaterThan(50); // the others were too many even for an answer
  for (const answer of rejected) expect(answer).toMatch(/^HTTP\/1\.1 503 /);
  holder.socket.destroy();
  await expect.poll(() => sendRaw(origin, request), patiently).toMatch(/^HTTP\/1\.1 200 /);
  expect(defects).toEqual([]);
});
