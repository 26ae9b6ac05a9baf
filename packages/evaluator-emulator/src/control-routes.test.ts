import { expect, test } from "vitest";
import { createAccountBook } from "./accounts.ts";
import { Call } from "./call.ts";
import { createRequestLog } from "./control-routes.ts";
import { createEmulator, type EmulatorOptions } from "./create-emulator.ts";
import type { Emulator } from "./serve.ts";
import { post, postEvaluation, postSystemOne, spamQuestion } from "./testing/requests.ts";

const freeTierBurst = 3;

const open = (options: EmulatorOptions = {}) =>
  createEmulator({ exchanges: [], clock: () => 0, ...options });

const as = (key: string) => ({ authorization: `Bearer ${key}` });
const evaluateAs = (emulator: Emulator, key: string) =>
  postEvaluation(emulator, spamQuestion, as(key));
const topUp = (emulator: Emulator, body: unknown) => post(emulator, "/_emulator/top-up", { body });

async function get(emulator: Emulator, path: string, headers: Record<string, string> = {}) {
  return (await (await emulator.fetch(path, { headers })).json()) as Record<string, unknown>;
}

async function useUpBurst(emulator: Emulator, key: string): Promise<void> {
  for (let call = 0; call < freeTierBurst; call += 1) await evaluateAs(emulator, key);
  expect((await evaluateAs(emulator, key)).status).toBe(429);
}

test("a top-up moves one key to the paid tier for its next call", async () => {
  const emulator = open({ tier: "free" });
  await useUpBurst(emulator, "a");
  await useUpBurst(emulator, "b");
  const { status, json } = await topUp(emulator, { key: "a", amount: 10 });
  expect(status).toBe(200);
  expect(json).toMatchObject({ tier: "paid", balance: "10" });
  expect((await evaluateAs(emulator, "a")).status).toBe(200);
  expect((await evaluateAs(emulator, "b")).status).toBe(429);
});

test("a top-up without a key is for every account, those opened later included", async () => {
  const emulator = open({ tier: "free" });
  await useUpBurst(emulator, "a");
  expect((await topUp(emulator, { amount: 10 })).json).toEqual({ tier: "paid" });
  for (let call = 0; call <= freeTierBurst; call += 1) {
    expect((await evaluateAs(emulator, "a")).status).toBe(200);
    expect((await evaluateAs(emulator, "later")).status).toBe(200);
  }
  expect(await get(emulator, "/v1/credits", as("new"))).toMatchObject({ balance: "10" });
});

test("keys have their own tier and balance, and an empty one is rejected", async () => {
  const keys = ["plain", { key: "poor", balanceUsd: 0 }, { key: "free", tier: "free" }] as const;
  const emulator = open({ keys });
  expect(await get(emulator, "/v1/credits", as("plain"))).toMatchObject({ balance: "20" });
  expect(await get(emulator, "/v1/credits", as("free"))).toMatchObject({ balance: "5" });
  expect((await evaluateAs(emulator, "poor")).status).toBe(402);
  await topUp(emulator, { key: "poor", amount: 1 });
  expect((await evaluateAs(emulator, "poor")).status).toBe(200);
  await useUpBurst(emulator, "free");
  expect((await evaluateAs(emulator, "other")).status).toBe(401);
});

test("credits go down until none are left", async () => {
  const emulator = open({ keys: [{ key: "poor", balanceUsd: 0.000_001 }] });
  expect((await evaluateAs(emulator, "poor")).status).toBe(200);
  const { balance } = await get(emulator, "/v1/credits", as("poor"));
  expect(Number(balance)).toBeLessThan(0);
  expect((await evaluateAs(emulator, "poor")).status).toBe(402);
});

test.each([
  ["no amount", { key: "a" }],
  ["a negative amount", { amount: -5 }],
  ["too large an amount", { amount: 1e9 }],
  ["an amount as text", { amount: "10" }],
  ["an unknown field", { amount: 10, tier: "paid" }],
  ["not JSON", "{"],
])("a top-up with %s is a 400", async (_what, body) => {
  expect(await topUp(open(), body)).toMatchObject({
    status: 400,
    json: { error: { type: "invalid_request_error" } },
  });
});

test("a top-up for a key that is not accepted is a 400 that does not repeat it", async () => {
  const { status, json } = await topUp(open({ keys: ["a"] }), { key: "stolen-key", amount: 1 });
  expect(status).toBe(400);
  expect(JSON.stringify(json)).not.toContain("stolen-key");
});

test("the request log tells requests apart without keys, header values or bodies", async () => {
  const emulator = open({ faults: [{ kind: "status", status: 503, path: "/v1/credits" }] });
  const state = "the secret state";
  await postEvaluation(emulator, { ...spamQuestion, state }, as("first-key"));
  await postEvaluation(emulator, {}, as("second-key"));
  await emulator.fetch("/v1/credits?token=query-secret", { headers: as("first-key") });
  await emulator.fetch("/v1/models");
  const { requests } = await get(emulator, "/_emulator/requests");
  const startedAt = "1970-01-01T00:00:00.000Z";
  const evaluation = { method: "POST", path: "/v4/ai/evaluation-model", model: "typesafe-ai/jev" };
  const lookUp = { method: "GET", model: null, ending: "whole", startedAt };
  expect(requests).toEqual([
    {
      ...evaluation,
      number: 1,
      account: 1,
      status: 200,
      note: "basis=lexical",
      ending: "whole",
      startedAt,
    },
    { ...evaluation, number: 2, account: 2, status: 400, note: null, ending: "whole", startedAt },
    { ...lookUp, number: 3, path: "/v1/credits", account: 1, status: 503, note: "fault=status" },
    { ...lookUp, number: 4, path: "/v1/models", account: null, status: 200, note: null },
  ]);
  expect(JSON.stringify(requests)).not.toMatch(/key|secret/);
});

test("the request log keeps a call that gets no response", async () => {
  const emulator = open({ faults: [{ kind: "reset" }] });
  await expect(emulator.fetch("/v1/models")).rejects.toThrow(TypeError);
  const { requests } = await get(emulator, "/_emulator/requests");
  expect(requests).toMatchObject([{ path: "/v1/models", status: null, ending: "reset" }]);
});

test("faults can be added, listed and taken back", async () => {
  const emulator = open();
  const fault = { kind: "status", status: 429, retryAfter: 2, next: 2 };
  const added = await post(emulator, "/_emulator/faults", { body: fault });
  expect(added.json).toEqual({ faults: [{ ...fault, left: 2 }] });
  expect((await postEvaluation(emulator)).headers.get("retry-after")).toBe("2");
  await post(emulator, "/_emulator/faults", { body: [{ kind: "html" }] });
  expect(await get(emulator, "/_emulator/faults")).toEqual({
    faults: [
      { ...fault, left: 1 },
      { kind: "html", left: null },
    ],
  });
  await emulator.fetch("/_emulator/faults", { method: "DELETE" });
  expect((await postEvaluation(emulator)).status).toBe(200);
});

test.each([
  [{ kind: "flood" }, "fault 1, kind: expected a kind: status, latency, html"],
  [[{ kind: "hang" }, { kind: "hang", rate: 7 }], "fault 2, rate: "],
])("the fault %j is rejected by its position, and none is added", async (body, message) => {
  const emulator = open();
  expect(await post(emulator, "/_emulator/faults", { body })).toMatchObject({
    status: 400,
    json: { error: { message: expect.stringContaining(message) } },
  });
  expect(await get(emulator, "/_emulator/faults")).toEqual({ faults: [] });
});

test("reset gives new accounts, an empty request log, and the faults it was made with", async () => {
  const emulator = open({ tier: "free", faults: [{ kind: "status", status: 500, next: 1 }] });
  expect((await evaluateAs(emulator, "a")).status).toBe(500);
  await topUp(emulator, { amount: 10 });
  await post(emulator, "/_emulator/faults", { body: { kind: "hang" } });
  await post(emulator, "/_emulator/reset", { body: {} });
  expect(await get(emulator, "/_emulator/requests")).toEqual({ requests: [] });
  expect((await evaluateAs(emulator, "a")).status).toBe(500);
  await useUpBurst(emulator, "a");
});

test("an unknown control address is a 404", async () => {
  expect((await open().fetch("/_emulator/none")).status).toBe(404);
});

test("pages of other origins may not control the emulator", async () => {
  const emulator = open();
  const { origin } = await emulator.listen();
  const resetFrom = async (page: string) =>
    (await fetch(`${origin}/_emulator/reset`, { method: "POST", headers: { origin: page } }))
      .status;
  expect(await resetFrom("http://evil.example")).toBe(403);
  expect(await resetFrom("null")).toBe(403);
  expect(await resetFrom("http://127.0.0.1:9")).toBe(403); // another program on this machine
  expect(await resetFrom(origin)).toBe(200);
  await emulator.close();
});

test("the vendor's calls are counted for their keys too", async () => {
  const emulator = open();
  await postSystemOne(emulator, {}, as("vendor-key"));
  const { requests } = await get(emulator, "/_emulator/requests");
  expect(requests).toMatchObject([{ path: "/direct/v1/systemone", account: 1, status: 422 }]);
});

test("the latest requests are kept, and the count goes on", async () => {
  const log = createRequestLog(createAccountBook("paid"), () => 0, 2);
  const call = () => {
    const delivery = { ending: "whole", hasResponse: true } as const;
    const next = () => Promise.resolve(Response.json({}));
    return log.play(new Call(new Request("http://emulator/"), delivery), next);
  };
  for (let calls = 0; calls < 7; calls += 1) await call();
  expect(log.list().map(({ number }) => number)).toEqual([6, 7]);
  log.reset();
  await call();
  expect(log.list().map(({ number }) => number)).toEqual([1]);
});
