import { expect, test } from "vitest";
import { createEmulator } from "./create-emulator.ts";
import { type Exchange, recordedAnswers } from "./recordings.ts";
import type { Content } from "./questions/content.ts";
import { evaluationHeaders, post, postEvaluation, postSystemOne } from "./testing/requests.ts";

const choice = { type: "choice", instructions: "Which?", criteria: { nano: "a", fast: null } };
const gatewayBody = {
  state: { user_message: "hi", n: 1 },
  questions: { tier: choice, "yes?": { type: "boolean", instructions: "Yes?" } },
};
const vendorBody = {
  model: "jev-latest",
  state: { n: 1, user_message: "hi" },
  questions: { "yes?": { type: "noul", instructions: "Yes?", criteria: null }, tier: choice },
};

const gatewayExchange: Exchange = {
  name: "gateway/hi",
  description: "A greeting",
  provenance: { source: "contract", section: "4.6" },
  request: { method: "POST", path: "/v4/ai/evaluation-model", headers: {}, body: gatewayBody },
  response: {
    status: 200,
    headers: {},
    body: {
      answers: {
        tier: { type: "choice", choice: "nano", probabilities: { nano: 0.97, fast: 0.04 } },
        "yes?": { type: "boolean", probability: 0.07 },
      },
      usage: { inputTokens: 336, outputTokens: 9 },
      providerMetadata: { anyvendor: { confidence: { tier: 0.91 } }, gateway: {} },
    },
  },
};

const vendorExchange: Exchange = {
  ...gatewayExchange,
  name: "direct/hi",
  request: { method: "POST", path: "/v1/systemone", headers: {}, body: vendorBody },
  response: {
    status: 200,
    headers: {},
    body: {
      model: "jev-9.9.9",
      answers: {
        tier: {
          type: "choice",
          choice: "nano",
          confidence: 0.91,
          probabilities: { nano: 0.97, fast: 0.04 },
        },
        "yes?": { type: "noul", noul: 0.07 },
      },
      usage: { input_tokens: 336, output_tokens: 9 },
    },
  },
};

test.each([
  ["gateway", gatewayExchange],
  ["vendor", vendorExchange],
])("one recording of the %s serves every wire", async (_side, exchange) => {
  const emulator = createEmulator({ exchanges: [exchange] });
  const evaluation = await postEvaluation(emulator, gatewayBody);
  expect(evaluation.headers.get("x-evaluator-emulator")).toBe("basis=recorded");
  expect(evaluation.json).toMatchObject({
    answers: {
      tier: { type: "choice", choice: "nano", probabilities: { nano: 0.97, fast: 0.04 } },
      "yes?": { type: "boolean", probability: 0.07 },
    },
    usage: { inputTokens: 336, outputTokens: 9 },
    providerMetadata: {
      typesafe: { confidence: { tier: 0.91 } },
      gateway: { marketCost: "0.000014112", routing: { canonicalSlug: "typesafe-ai/jev" } },
    },
  });

  const { state, questions } = gatewayBody;
  const decision = await post(emulator, "/v4/ai/decision-model", {
    headers: { ...evaluationHeaders, "ai-decision-model-specification-version": "4" },
    body: { stateParts: [{ type: "json", value: state }], questions },
  });
  expect(decision.headers.get("x-evaluator-emulator")).toBe("basis=recorded");
  expect(decision.json).toMatchObject({ model: "typesafe-ai/jev" });

  const direct = await postSystemOne(emulator, vendorBody);
  expect(direct.headers.get("x-evaluator-emulator")).toBe("basis=recorded");
  expect(direct.json).toMatchObject({
    answers: {
      tier: { choice: "nano", confidence: 0.91 },
      "yes?": { type: "noul", noul: 0.07 },
    },
    usage: { input_tokens: 336, output_tokens: 9 },
  });
});

test("the vendor's wire names the recorded release", async () => {
  const emulator = createEmulator({ exchanges: [vendorExchange] });
  expect((await postSystemOne(emulator, vendorBody)).json).toMatchObject({ model: "jev-9.9.9" });
});

test("of two recordings of one request the first counts", async () => {
  const later = JSON.parse(JSON.stringify(vendorExchange).replace("0.07", "0.5")) as Exchange;
  const emulator = createEmulator({ exchanges: [gatewayExchange, later] });
  const { json } = await postEvaluation(emulator, gatewayBody);
  expect(json).toMatchObject({ answers: { "yes?": { probability: 0.07 } } });
});

test("another state is not answered by the recording", async () => {
  const emulator = createEmulator({ exchanges: [gatewayExchange] });
  const { headers } = await postEvaluation(emulator, { ...gatewayBody, state: "hi" });
  expect(headers.get("x-evaluator-emulator")).not.toBe("basis=recorded");
});

test("errors, refusals and other addresses are left out", async () => {
  const { request, response } = gatewayExchange;
  const emulator = createEmulator({
    exchanges: [
      { ...gatewayExchange, response: { ...response, status: 429 } },
      { ...gatewayExchange, request: { ...request, path: "/v1/models" } },
      { ...gatewayExchange, response: { ...response, body: { answers: { tier: "refusal" } } } },
    ],
  });
  const { headers } = await postEvaluation(emulator, gatewayBody);
  expect(headers.get("x-evaluator-emulator")).toBe("basis=none");
});

test("a recording with an image answers for the same image only", async () => {
  const bodyWith = (data: string) => {
    const file = { type: "file", mediaType: "image/jpeg", data: { type: "data", data } };
    const stateParts = [{ type: "json", value: gatewayBody.state }, file];
    return { stateParts, questions: gatewayBody.questions };
  };
  const request = { ...gatewayExchange.request, body: bodyWith("/9j/4AAA") };
  const emulator = createEmulator({ exchanges: [{ ...gatewayExchange, request }] });
  const headers = { ...evaluationHeaders, "ai-decision-model-specification-version": "4" };
  const basisOf = async (body: unknown) => {
    const answered = await post(emulator, "/v4/ai/decision-model", { headers, body });
    return answered.headers.get("x-evaluator-emulator");
  };
  expect(await basisOf(bodyWith("/9j/4AAA"))).toBe("basis=recorded");
  expect(await basisOf(bodyWith("/9j/4AAB"))).not.toBe("basis=recorded");
  expect(await basisOf(gatewayBody)).not.toBe("basis=recorded");
});

/** Returns whether a recording of one state answers another. */
function answers(recorded: Content, asked: Content): boolean {
  const body = { state: recorded, questions: { q: { type: "boolean", instructions: "Yes?" } } };
  const response = { answers: { q: { type: "boolean", probability: 0.9 } } };
  const source = recordedAnswers([
    {
      ...gatewayExchange,
      request: { ...gatewayExchange.request, body },
      response: {
        ...gatewayExchange.response,
        body: { ...response, usage: { inputTokens: 1, outputTokens: 1 } },
      },
    },
  ]);
  const criteria = { true: null, false: null };
  const questions = { q: { type: "boolean", instructions: "Yes?", criteria } } as const;
  return source({ state: asked, questions }) !== null;
}

test("the order of keys makes no difference, at any depth", () => {
  expect(answers({ b: [{ d: 1, c: null }], a: "x" }, { a: "x", b: [{ c: null, d: 1 }] })).toBe(
    true,
  );
});

test("the order of a list does", () => {
  expect(answers([1, 2], [1, 2])).toBe(true);
  expect(answers([1, 2], [2, 1])).toBe(false);
});

test("a key named __proto__ is kept", () => {
  const [one, same, other] = [1, 1, 2].map((n) => JSON.parse(`{"__proto__":${n}}`) as Content);
  expect(answers(one ?? "", same ?? "")).toBe(true);
  expect(answers(one ?? "", other ?? "")).toBe(false);
});
