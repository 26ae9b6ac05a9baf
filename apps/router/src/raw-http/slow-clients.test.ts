import { expect, test } from "vitest";
import { rawClient, rawRequest, sendRaw } from "../testing/raw-client.ts";
import { startTestRouter } from "../testing/test-router.ts";

/** Limits that let a slow client go within a test. */
const impatientLimits = {
  headersTimeout: 50,
  requestTimeout: 100,
  connectionsCheckingInterval: 10,
};

const slow: [what: string, bytes: (host: string) => string][] = [
  ["says nothing", () => ""],
  ["does not finish its headers", (host) => `POST /chat HTTP/1.1\r\nHost: ${host}\r\nX-Slow: `],
  [
    "does not send the body it announced",
    (host) => {
      const headers = ["Content-Type: application/json", "Content-Length: 16"];
      return rawRequest("POST /chat", [`Host: ${host}`, ...headers], '{"mes');
    },
  ],
];

test.each(slow)("a client that %s is let go", async (_what, bytes) => {
  const { origin, host, seen, defects } = await startTestRouter({}, { limits: impatientLimits });
  expect(await sendRaw(origin, bytes(host))).toMatch(/^(HTTP\/1\.1 408 |$)/);
  expect({ seen, defects }).toEqual({ seen: [], defects: [] });
});

test("500 idle connections keep nobody out, and do not hold the router back from stopping", async () => {
  const { origin, close } = await startTestRouter();
  const idle = await Promise.all(Array.from({ length: 500 }, () => rawClient(origin)));
  const headers = { "content-type": "application/json", connection: "close" };
  const init = { method: "POST", headers, body: '{"message":"hi"}' };
  const answer = await fetch(`${origin}/chat`, init);
  expect(await answer.json()).toMatchObject({ tier: "nano", replyError: null });
  await close();
  await Promise.all(idle.map(({ received }) => received));
});
