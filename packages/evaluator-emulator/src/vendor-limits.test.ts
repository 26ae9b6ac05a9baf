import { expect, test } from "vitest";
import { createEmulator } from "./create-emulator.ts";
import { postSystemOne } from "./testing/requests.ts";
import { createVendorGate } from "./vendor-limits.ts";

const scam = { type: "noul", instructions: "Is it a scam?" };
const request = { model: "jev-latest", state: "hello", questions: { scam } };

function limited(limits: NonNullable<Parameters<typeof createEmulator>[0]>["limits"]) {
  let nowMs = 1_000_000;
  const emulator = createEmulator({
    exchanges: [],
    clock: () => nowMs,
    ...(limits !== undefined && { limits }),
  });
  const status = async (state = "hello", key = "a") => {
    const headers = { authorization: `Bearer ${key}` };
    const response = await postSystemOne(emulator, { ...request, state }, headers);
    return `${response.status} ${response.headers.get("retry-after") ?? ""}`.trim();
  };
  return { emulator, status, pass: (ms: number) => (nowMs += ms) };
}

test("a burst goes through, then as many as the minute allows, for each key", async () => {
  const { status, pass, emulator } = limited({ requestsPerMinute: 60, burst: 2 });
  expect([await status(), await status(), await status()]).toEqual(["200", "200", "429 1"]);
  expect(await status("hello", "b")).toBe("200");
  pass(1000);
  expect([await status(), await status()]).toEqual(["200", "429 1"]);
  emulator.reset();
  expect(await status()).toBe("200");
});

test("the vendor's own limits are 1,200 a minute and 250,000 tokens a second", async () => {
  const gate = createVendorGate({});
  const waits = Array.from({ length: 1201 }, () => gate.admit("a", 1, 0));
  expect(waits.findIndex((waitMs) => waitMs > 0)).toBe(1200);
  expect(waits.at(-1)).toBe(50);
  expect(gate.admit("a", 300_000, 60_000)).toBe(0);
  expect(gate.admit("a", 25_000, 60_000)).toBe(300);
  const { status } = limited(true);
  const long = "x".repeat(120_000);
  const tokens = [];
  for (let calls = 0; calls < 9; calls += 1) tokens.push(await status(long));
  expect(tokens.indexOf("429 1")).toBe(8);
});

test("a throttled answer has the vendor's form, and without limits there is none", async () => {
  const { emulator, status } = limited({ burst: 1 });
  await status();
  const { json } = await postSystemOne(emulator, request, { authorization: "Bearer a" });
  expect(json).toEqual({ detail: expect.stringContaining("1,200 requests a minute") });
  const free = limited(undefined);
  for (let calls = 0; calls < 3; calls += 1) expect(await free.status()).toBe("200");
});
