import { fileURLToPath } from "node:url";
import { loadExchanges } from "evaluator-client/testing";
import { expect, test } from "vitest";
import { createEmulator } from "./create-emulator.ts";
import {
  evaluationHeaders,
  post,
  postEvaluation,
  postSystemOne,
  spamQuestion,
} from "./testing/requests.ts";

const ownExchanges = loadExchanges(
  fileURLToPath(import.meta.resolve("evaluator-fixtures/exchanges")),
);

test("the same seed and requests give the same answers, ids included", async () => {
  const options = { exchanges: [], seed: 7, clock: () => 0 };
  const [first, second] = [createEmulator(options), createEmulator(options)];
  expect((await postEvaluation(first)).json).toEqual((await postEvaluation(second)).json);
  const other = createEmulator({ ...options, seed: 8 });
  expect((await postEvaluation(other)).json).not.toEqual((await postEvaluation(second)).json);
});

async function readIds(seed: number): Promise<readonly (string | null)[]> {
  const emulator = createEmulator({ exchanges: [], seed });
  const calls = Array.from({ length: 50 }, () => emulator.fetch("/direct/v1/models"));
  return (await Promise.all(calls)).map(({ headers }) => headers.get("x-typesafe-request-id"));
}

test("the same seed gives the same ids, another seed others", async () => {
  const ids = await readIds(7);
  expect(await readIds(7)).toEqual(ids);
  expect((await readIds(8))[0]).not.toBe(ids[0]);
  expect(new Set(ids).size).toBe(50);
  expect(ids[0]).toMatch(/^req_[0-9A-Z]{26}$/);
});

test("reset starts the ids again", async () => {
  const emulator = createEmulator({ exchanges: [], clock: () => 0 });
  const before = await postEvaluation(emulator);
  emulator.reset();
  expect((await postEvaluation(emulator)).json).toEqual(before.json);
});

test("fetch takes a path, a URL or a Request, of any host", async () => {
  const emulator = createEmulator({ exchanges: [] });
  const url = "https://ai-gateway.vercel.sh/v1/models";
  for (const input of ["/v1/models", url, new URL(url), new Request(url)]) {
    expect((await emulator.fetch(input)).status).toBe(200);
  }
});

test("an aborted fetch rejects with the caller's reason", async () => {
  const reason = new Error("enough");
  const signal = AbortSignal.abort(reason);
  const emulator = createEmulator({ exchanges: [] });
  await expect(emulator.fetch("/v1/models", { signal })).rejects.toBe(reason);
});

test("the question id makes no difference to an answer", async () => {
  const emulator = createEmulator({ exchanges: [] });
  const { spam } = spamQuestion.questions;
  const { json } = await postEvaluation(emulator, {
    state: "you have won a prize",
    questions: { spam, receipt: spam, scam_prize: spam },
  });
  const { answers } = json as { answers: Record<string, unknown> };
  expect(new Set(Object.values(answers).map((answer) => JSON.stringify(answer))).size).toBe(1);
});

test("every successful evaluation of the fixtures is answered as recorded", async () => {
  const emulator = createEmulator();
  const recorded = ownExchanges.filter(
    ({ request, response }) =>
      response.status === 200 && /evaluation-model$|systemone$/.test(request.path),
  );
  expect(recorded.length).toBeGreaterThan(0);
  for (const { request, response } of recorded) {
    const reply = await post(emulator, request.path, {
      headers: { ...evaluationHeaders, ...request.headers },
      body: request.body,
    });
    expect(reply.headers.get("x-evaluator-emulator")).toBe("basis=recorded");
    const { answers } = response.body as { answers: unknown };
    expect(reply.json).toMatchObject({ answers });
  }
});

test("the same request gets equal answers, confidence and usage on both sides", async () => {
  const emulator = createEmulator({ exchanges: [] });
  const kind = { type: "choice", instructions: "Which?", criteria: { receipt: "paid", other: "" } };
  const state = { subject: "Your receipt", snippet: "Amount paid: $20.00" };
  const [gateway, vendor] = await Promise.all([
    postEvaluation(emulator, { state, questions: { kind } }),
    postSystemOne(emulator, { model: "jev-latest", state, questions: { kind } }),
  ]);
  const { answers, usage, providerMetadata } = gateway.json as {
    answers: { kind: object };
    usage: { inputTokens: number; outputTokens: number };
    providerMetadata: { typesafe: { confidence: { kind: number } } };
  };
  expect(vendor.json).toEqual({
    model: "local/lexical-1",
    answers: { kind: { ...answers.kind, confidence: providerMetadata.typesafe.confidence.kind } },
    usage: { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens },
  });
});

const threeKinds = {
  state: "You have won the lottery",
  questions: {
    kind: { type: "choice", instructions: "?", criteria: { prize: "a lottery", other: "else" } },
    scam: { type: "boolean", instructions: "Is it a scam?" },
  },
};

test("numbers are printed to as many decimals as asked, and the body says so", async () => {
  const fine = await postEvaluation(createEmulator({ exchanges: [], decimals: 4 }), threeKinds);
  const { answers, rounding } = fine.json as {
    answers: { kind: { probabilities: { prize: number } } };
    rounding: object;
  };
  expect(String(answers.kind.probabilities.prize)).toMatch(/^0\.\d{3,4}$/);
  expect(rounding).toEqual({ probabilityDecimals: 4, scoreDecimals: 4 });
  expect(() => createEmulator({ decimals: 1.5 })).toThrow("decimals is a whole number");
});

test("a recorded answer loses decimals and gains none", async () => {
  const recorded = ownExchanges.find(({ name }) => name === "gateway/three-question-types");
  const printed = await Promise.all(
    [0, 1, 4].map(async (decimals) => {
      const { json } = await postEvaluation(createEmulator({ decimals }), recorded?.request.body);
      const { answers, rounding } = json as {
        answers: { scam: { probability: number } };
        rounding: { scoreDecimals: number };
      };
      return [rounding.scoreDecimals, answers.scam.probability];
    }),
  );
  const full = printed[2]?.[1] ?? Number.NaN;
  expect(printed).toEqual([
    [0, Math.round(full)],
    [1, Math.round(full * 10) / 10],
    [2, full],
  ]);
});

test("without confidence neither side says any", async () => {
  const emulator = createEmulator({ exchanges: [], confidence: false });
  const { json } = await postEvaluation(emulator, threeKinds);
  const { providerMetadata } = json as { providerMetadata: object };
  expect(Object.keys(providerMetadata)).toEqual(["gateway"]);
  const { kind } = threeKinds.questions;
  const body = { ...threeKinds, model: "jev-latest", questions: { kind } };
  const direct = await postSystemOne(emulator, body);
  expect(direct.status).toBe(200);
  expect(JSON.stringify(direct.json)).not.toContain("confidence");
});

test("jitter is drawn for each call, the same in each run", async () => {
  const run = async () => {
    const waits: number[] = [];
    const emulator = createEmulator({
      exchanges: [],
      faults: [{ kind: "latency", latencyMs: 100, jitterMs: 50 }],
      sleep: async (ms) => void waits.push(ms),
    });
    for (let calls = 0; calls < 5; calls += 1) await postEvaluation(emulator);
    return waits;
  };
  const waits = await run();
  expect(waits.every((ms) => ms >= 100 && ms <= 150)).toBe(true);
  expect(new Set(waits).size).toBeGreaterThan(1);
  expect(await run()).toEqual(waits);
});
