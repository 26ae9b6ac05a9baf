import { expect, test } from "vitest";
import { createEmulator, type EmulatorOptions } from "../create-emulator.ts";
import { post, postEvaluation, postSystemOne, spamQuestion } from "../testing/requests.ts";
import type { Fault } from "./fault.ts";

function emulatorWith(faults: readonly Fault[], options: EmulatorOptions = {}) {
  return createEmulator({ exchanges: [], clock: () => 0, ...options, faults });
}

async function statuses(emulator: ReturnType<typeof createEmulator>, count: number) {
  const seen: number[] = [];
  for (let call = 0; call < count; call += 1) {
    const { status } = await postEvaluation(emulator, { ...spamQuestion, state: `mail ${call}` });
    seen.push(status);
  }
  return seen;
}

const vendorQuestion = {
  model: "jev-latest",
  state: "hello",
  questions: { spam: { type: "noul", instructions: "Is it spam?" } },
};

test("a status comes with Retry-After, in the gateway's shape, and is marked", async () => {
  const emulator = emulatorWith([{ kind: "status", status: 429, retryAfter: 2, next: 1 }]);
  const { status, headers, json } = await postEvaluation(emulator);
  expect(status).toBe(429);
  expect(headers.get("retry-after")).toBe("2");
  expect(headers.get("x-evaluator-emulator")).toBe("fault=status");
  expect(json).toMatchObject({ error: { type: "rate_limit_exceeded" } });
  expect((await postEvaluation(emulator)).status).toBe(200);
});

test("a status without Retry-After has no such header, and the vendor's shape at the vendor", async () => {
  const emulator = emulatorWith([{ kind: "status", status: 529 }]);
  const { status, headers, json } = await postSystemOne(emulator, vendorQuestion);
  expect(status).toBe(529);
  expect(headers.has("retry-after")).toBe(false);
  expect(headers.get("x-typesafe-request-id")).toMatch(/^req_/);
  expect(json).toEqual({ detail: expect.any(String) });
});

test("a fault holds for the next N calls of its path only", async () => {
  const path = "/v4/ai/evaluation-model";
  const emulator = emulatorWith([{ kind: "status", status: 503, next: 2, path }]);
  expect((await emulator.fetch("/v1/models")).status).toBe(200);
  expect(await statuses(emulator, 4)).toEqual([503, 503, 200, 200]);
});

test("a trailing star stands for the rest of a path", async () => {
  const emulator = emulatorWith([{ kind: "status", status: 503, path: "/direct/*" }]);
  expect((await emulator.fetch("/direct/v1/models")).status).toBe(503);
  expect((await emulator.fetch("/v1/models")).status).toBe(200);
});

test("faults are used in order, one for each call", async () => {
  const emulator = emulatorWith([
    { kind: "status", status: 500, next: 1 },
    { kind: "status", status: 502, next: 2 },
  ]);
  expect(await statuses(emulator, 4)).toEqual([500, 502, 502, 200]);
});

test("a rate is kept, and the same seed and requests give the same run", async () => {
  const faults = [{ kind: "status", status: 503, rate: 0.3 }] as const;
  const [first, second] = [emulatorWith(faults), emulatorWith(faults)];
  const run = await statuses(first, 200);
  const failed = run.filter((status) => status === 503).length;
  expect(failed).toBeGreaterThan(35);
  expect(failed).toBeLessThan(85);
  expect(await statuses(second, 200)).toEqual(run);
  expect(await statuses(first, 200)).not.toEqual(run);
  first.reset();
  expect(await statuses(first, 200)).toEqual(run);
  expect(await statuses(emulatorWith(faults, { seed: 2 }), 200)).not.toEqual(run);
});

test("latencies add up and leave the answer alone", async () => {
  const slept: number[] = [];
  const sleep = (ms: number) => Promise.resolve(void slept.push(ms));
  const faults = [
    { kind: "latency", latencyMs: 200 },
    { kind: "latency", latencyMs: 50, next: 1 },
  ] as const;
  const emulator = emulatorWith(faults, { sleep });
  expect(await statuses(emulator, 2)).toEqual([200, 200]);
  expect(slept).toEqual([250, 200]);
});

const texts = Array.from({ length: 200 }, (_, index) => `request ${index}`);
const jitterMs = 600_000;

/** Returns a function that sends a text, and returns its delay, drawn up to `jitterMs`. */
function jitterOf(seed: number) {
  let slept = 0;
  const sleep = (ms: number) => Promise.resolve(void (slept = ms));
  const emulator = emulatorWith([{ kind: "latency", latencyMs: 0, jitterMs }], { seed, sleep });
  return async (body: string) => {
    slept = 0;
    await emulator.fetch("/v1/models", { method: "POST", body });
    return slept;
  };
}

async function drawAll(draw: ReturnType<typeof jitterOf>, all: readonly string[]) {
  const drawn = new Map<string, number>();
  for (const text of all) drawn.set(text, await draw(text));
  return drawn;
}

test("the same seed and texts draw the same numbers, in whatever order", async () => {
  const forwards = await drawAll(jitterOf(7), texts);
  expect(await drawAll(jitterOf(7), texts.toReversed())).toEqual(forwards);
});

test("a text that comes again draws another number", async () => {
  const draw = jitterOf(7);
  expect(await draw("again")).not.toBe(await draw("again"));
});

test("another seed draws other numbers", async () => {
  expect(await jitterOf(8)("request")).not.toBe(await jitterOf(7)("request"));
});

test("numbers are spread over the whole range", async () => {
  const drawn = [...(await drawAll(jitterOf(7), texts)).values()];
  expect(drawn.every((ms) => ms >= 0 && ms <= jitterMs)).toBe(true);
  const below = drawn.filter((ms) => ms < 0.25 * jitterMs).length;
  expect(below).toBeGreaterThan(25);
  expect(below).toBeLessThan(75);
});

test("a caller who aborts does not wait for a latency or a hanging call", async () => {
  const reason = new Error("enough");
  for (const fault of [{ kind: "latency", latencyMs: 600_000 }, { kind: "hang" }] as const) {
    const controller = new AbortController();
    const call = emulatorWith([fault]).fetch("/v1/models", { signal: controller.signal });
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
  }
});

test("malformed JSON is whole and unreadable", async () => {
  const emulator = emulatorWith([{ kind: "malformed-json" }]);
  const text = await (await emulator.fetch("/v1/models")).text();
  expect(text.length).toBeGreaterThan(100);
  expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
  const whole = await (await emulatorWith([]).fetch("/v1/models")).text();
  expect(text).toBe(whole.slice(0, -1));
});

test("every event of a malformed stream lacks the end of its JSON", async () => {
  const streamed = async (faults: readonly Fault[]) => {
    const response = await emulatorWith(faults, { engine: "openai" }).fetch(
      "/v1/chat/completions",
      {
        method: "POST",
        body: JSON.stringify({ stream: true, messages: [{ role: "user", content: "hi" }] }),
      },
    );
    return await response.text();
  };
  const [whole, spoilt] = [await streamed([]), await streamed([{ kind: "malformed-json" }])];
  expect(spoilt).toBe(whole.replaceAll("}\n\n", "\n\n"));
  expect(spoilt).not.toBe(whole);
  expect(spoilt).toContain("data: [DONE]\n\n");
});

test.each([
  [undefined, 502],
  [200, 200],
])("an HTML page with status %s comes with %d", async (status, expected) => {
  const emulator = emulatorWith([{ kind: "html", ...(status !== undefined && { status }) }]);
  const response = await emulator.fetch("/v1/models");
  expect(response.status).toBe(expected);
  expect(response.headers.get("content-type")).toContain("text/html");
  expect(await response.text()).toMatch(/^<!doctype html>/);
});

const questions = {
  kind: { type: "choice", instructions: "Which?", criteria: { receipt: "paid", other: "" } },
  only: { type: "choice", instructions: "Which?", criteria: { one: null } },
  level: { type: "score", instructions: "How?", criteria: ["low", "high"] },
  spam: { type: "boolean", instructions: "Is it spam?" },
};

test("wrong sums spoil every answer", async () => {
  const emulator = emulatorWith([{ kind: "wrong-sums" }]);
  const { headers, json } = await postEvaluation(emulator, { state: "hi", questions });
  expect(headers.get("x-evaluator-emulator")).toMatch(/^basis=\w+; fault=wrong-sums$/);
  expect(json).toMatchObject({
    answers: {
      kind: { probabilities: { receipt: 1, other: 1 } },
      only: { probabilities: { one: 0.5 } },
      level: { probabilities: { "0": 1, "1": 1 } },
      spam: { probability: 1.5 },
    },
  });
});

test("a missing answer is the first one", async () => {
  const emulator = emulatorWith([{ kind: "missing-answer" }]);
  const { json } = await postEvaluation(emulator, { state: "hi", questions });
  expect(Object.keys((json as { answers: object }).answers)).toEqual(["only", "level", "spam"]);
});

test("a refusal is every answer, on both sides", async () => {
  const emulator = emulatorWith([{ kind: "refusal" }]);
  const answers = { spam: { type: "refusal" } };
  expect((await postEvaluation(emulator)).json).toMatchObject({ answers });
  expect((await postSystemOne(emulator, vendorQuestion)).json).toMatchObject({ answers });
});

test("a fault of answers leaves other addresses and rejected requests alone", async () => {
  const emulator = emulatorWith([{ kind: "missing-answer", next: 2 }]);
  expect((await emulator.fetch("/v1/models")).status).toBe(200);
  expect((await postEvaluation(emulator, {})).status).toBe(400);
  const { json } = await postEvaluation(emulator);
  expect(json).toMatchObject({ answers: {} });
  expect((json as { answers: object }).answers).toEqual({});
});

test("control addresses meet no fault", async () => {
  const emulator = emulatorWith([{ kind: "hang" }]);
  expect((await post(emulator, "/_emulator/reset", { body: {} })).status).toBe(200);
});

test("a fault that is none is named by its position", () => {
  const faults = [{ kind: "hang" }, { kind: "status", status: 99 }] as Fault[];
  expect(() => emulatorWith(faults)).toThrow("fault 2, status: ");
});
