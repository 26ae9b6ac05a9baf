import { expect, test } from "vitest";
import { HttpError } from "../http-error.ts";
import { apiForms, post } from "../testing/api-forms.ts";
import { testRouter } from "../testing/test-router.ts";
import { MinuteLimits } from "./minute-limits.ts";
import { toHash, type RouterKey, storedKeySchema } from "./router-key.ts";

const stored = (limits: Partial<RouterKey>) =>
  storedKeySchema.parse({ name: "alice", budget: "a", sha256: toHash("rk_alice"), ...limits });

/** Takes requests of a key with limits, at times that the test sets. */
function counter(given: Partial<RouterKey>) {
  const clock = { nowMs: 0 };
  const limits = new MinuteLimits(() => clock.nowMs);
  const take = (name = "alice") => {
    const headers: Record<string, string> = {};
    try {
      limits.take({ ...stored(given), name }, (header, value) => (headers[header] = value));
      return headers;
    } catch (error) {
      return { ...headers, retryAfter: error instanceof HttpError && error.details.retryAfter };
    }
  };
  return { clock, take, limits };
}

const requests = (count: number) => ({ "x-ratelimit-remaining-requests": String(count) });
const tokens = (count: number) => ({ "x-ratelimit-remaining-tokens": String(count) });

test("requests are counted for a minute, and by key", () => {
  const { clock, take } = counter({ requestsPerMinute: 2 });
  expect([take(), take(), take()]).toEqual([
    requests(1),
    requests(0),
    { ...requests(0), retryAfter: "60" },
  ]);
  expect(take("bob")).toEqual(requests(1));
  clock.nowMs = 59_001;
  expect(take()).toEqual({ ...requests(0), retryAfter: "1" });
  clock.nowMs = 60_000;
  expect(take()).toEqual(requests(1));
});

test("tokens are counted at the end of a reply, and refuse the next request", () => {
  const { clock, take, limits } = counter({ tokensPerMinute: 100 });
  expect(take()).toEqual(tokens(100));
  limits.addTokens("alice", 70);
  expect(take()).toEqual(tokens(30));
  limits.addTokens("alice", 70);
  clock.nowMs = 30_000;
  expect(take()).toEqual({ ...tokens(0), retryAfter: "30" });
  clock.nowMs = 60_000;
  expect(take()).toEqual(tokens(100));
});

test("a key without limits is never refused, and gets no headers", () => {
  const { take, limits } = counter({});
  limits.addTokens("alice", 1e9);
  expect([take(), take()]).toEqual([{}, {}]);
});

/** A router whose one key is `rk_alice`. */
async function routerFor(limits: Partial<RouterKey>) {
  const keys = { current: () => [stored(limits)] };
  const clock = { nowMs: 0 };
  const router = await testRouter({}, { keys, now: () => clock.nowMs });
  const headers = { "content-type": "application/json", authorization: "Bearer rk_alice" };
  const send = (path: string, body: object) => router.request(path, { ...post(body), headers });
  return { ...router, clock, send, headers };
}

test.each(apiForms)("$path answers in its form when the minute is used up", async (form) => {
  const { send, request, headers, seen, clock } = await routerFor({ requestsPerMinute: 1 });
  const body = form.ask(["hi"], { model: "nano", stream: true });
  const first = await send(form.path, body);
  await first.text();
  expect(first.headers.get("x-ratelimit-remaining-requests")).toBe("0");
  const asked = seen.length;
  const second = await send(form.path, body);
  expect(second.status).toBe(429);
  expect(second.headers.get("retry-after")).toBe("60");
  expect(second.headers.get("x-should-retry")).toBeNull();
  expect(second.headers.get("x-ratelimit-remaining-requests")).toBe("0");
  expect(await second.json()).toMatchObject({ error: { type: "rate_limit_error" } });
  expect(seen.length).toBe(asked);
  expect((await request("/v1/models", { headers })).status).toBe(200); // asks no model
  clock.nowMs = 60_000;
  expect((await send(form.path, body)).status).toBe(200);
});

test("the tokens of a whole reply and of a streamed one count", async () => {
  const { send } = await routerFor({ tokensPerMinute: 1 });
  const first = await send("/chat", { message: "hi" });
  expect(first.headers.get("x-ratelimit-remaining-tokens")).toBe("1");
  expect((await send("/chat", { message: "hi" })).status).toBe(429);
});
