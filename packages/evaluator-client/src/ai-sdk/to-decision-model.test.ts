import {
  createProviderRegistry,
  customProvider,
  experimental_decide as decide,
  type Experimental_DecisionQuestion as DecisionQuestion,
  type Experimental_DecisionState as DecisionState,
} from "ai";
import { replayExchanges } from "../testing/replay-exchanges.ts";
import { beforeAll, expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { InvalidRequestError } from "../errors.ts";
import { answeringModel, scamBody, scamQuestion } from "../testing/answering-model.ts";
import { onePixel } from "../testing/one-pixel.ts";
import { emailRequest, gatewayBody } from "../testing/email-evaluation.ts";
import { gatewayTransport } from "../transports/gateway/gateway-transport.ts";
import { toDecisionModel } from "./to-decision-model.ts";

beforeAll(() => {
  globalThis.AI_SDK_LOG_WARNINGS = false;
});

test("decides every type of question through the real package", async () => {
  await replayExchanges(["gateway/three-question-types"]);
  const transport = gatewayTransport({ apiKey: "a-gateway-key", env: {} });
  const model = toDecisionModel(createEvaluator({ transport }));
  const { state, questions } = emailRequest;
  const result = await decide({ model, state, questions });
  expect(result.answers).toMatchObject({
    category: { type: "choice", choice: "receipt", probabilities: { receipt: 0.91, other: 0.09 } },
    importance: { type: "score", probabilities: { "0": expect.any(Number) } },
    scam: { type: "boolean", probability: expect.any(Number) },
  });
  expect(result.rounding).toEqual({ probabilityDecimals: 2, scoreDecimals: 2 });
  expect(result.usage).toMatchObject({ inputTokens: expect.any(Number) });
  expect(result.warnings).toEqual([]);
  expect(result.providerMetadata).toMatchObject({
    typesafe: { confidence: { category: expect.any(Number) } },
    gateway: { marketCost: expect.any(String) },
  });
});

test("reports the model, the id and the body", async () => {
  const { model } = answeringModel();
  const { response, usage } = await decide({ model, state: "hi", questions: scamQuestion });
  expect(response).toMatchObject({ id: "gen_1", modelId: "typesafe-ai/jev", body: scamBody });
  expect(response.timestamp).toBeInstanceOf(Date);
  expect(usage).toEqual({ inputTokens: 336, outputTokens: 3, totalTokens: 339 });
});

test("names itself where the service names no model", async () => {
  const body = { ...scamBody, providerMetadata: {} };
  const { model } = answeringModel(() => Response.json(body), { modelId: "mine", provider: "us" });
  expect(model).toMatchObject({ provider: "us", modelId: "mine", specificationVersion: "v4" });
  const { response } = await decide({ model, state: "hi", questions: scamQuestion });
  expect(response.modelId).toBe("mine");
  expect(response).not.toHaveProperty("id");
});

test("works in a provider registry", async () => {
  const { model } = answeringModel();
  const provider = customProvider({ decisionModels: { judge: model } });
  const registry = createProviderRegistry({ local: provider });
  const { answers } = await decide({
    model: registry.decisionModel("local:judge"),
    state: "hi",
    questions: scamQuestion,
  });
  expect(answers.scam.probability).toBe(0.04);
});

test.each<[string, DecisionState, unknown]>([
  ["text", "hi", "hi"],
  ["an object", { a: [1, null] }, { a: [1, null] }],
  ["one text part", [{ type: "text", text: "hi" }], "hi"],
  ["one JSON object part", [{ type: "json", value: { a: 1 } }], { a: 1 }],
])("sends %s unchanged", async (_, state, sent) => {
  const { model, bodies } = answeringModel();
  const { warnings } = await decide({ model, state, questions: scamQuestion });
  expect(bodies).toEqual([{ state: sent, questions: scamQuestion }]);
  expect(warnings).toEqual([]);
});

test.each<[string, DecisionState, string]>([
  [
    "two texts",
    [
      { type: "text", text: "one" },
      { type: "text", text: "two" },
    ],
    "one\n\ntwo",
  ],
  [
    "text and JSON",
    [
      { type: "text", text: "a" },
      { type: "json", value: { b: [1] } },
    ],
    'a\n\n{"b":[1]}',
  ],
  [
    "JSON and text",
    [
      { type: "json", value: { b: 1 } },
      { type: "text", text: "a" },
    ],
    '{"b":1}\n\na',
  ],
  ["a JSON list", [{ type: "json", value: ["a", 1] }], '["a",1]'],
  ["JSON null", [{ type: "json", value: null }], "null"],
])("sends %s as one text, with a warning", async (_, state, sent) => {
  const { model, bodies } = answeringModel();
  const { warnings } = await decide({ model, state, questions: scamQuestion });
  expect(bodies).toMatchObject([{ state: sent }]);
  expect(warnings).toMatchObject([{ type: "compatibility", feature: "state" }]);
});

test("sends a file that is an image over a wire that takes it", async () => {
  const { model, bodies } = answeringModel(undefined, {}, "decision-model");
  const file = { type: "file", data: onePixel, mediaType: "image/*" } as const;
  const state = [{ type: "text", text: "a photo" }, file, { type: "json", value: 1 }] as const;
  const { warnings } = await decide({ model, state, questions: scamQuestion });
  const data = { type: "data", data: onePixel.toString("base64") };
  const sent = { type: "file", mediaType: "image/png", data };
  expect(bodies).toMatchObject([{ stateParts: [state[0], sent, state[2]] }]);
  expect(warnings).toEqual([]);
});

test.each<[string, DecisionState, RegExp]>([
  ["no parts", [], /no parts/],
  ["a file", [{ type: "file", data: new Uint8Array([1]), mediaType: "text/csv" }], /no image/],
  ["no image", [{ type: "file", data: new Uint8Array([1]), mediaType: "image/png" }], /no image/],
  ["an image", [{ type: "file", data: onePixel, mediaType: "image" }], /does not take/],
  ["a BigInt", [{ type: "json", value: [1n] as never }], /not a JSON value/],
  ["undefined", [{ type: "json", value: undefined as never }], /not a JSON value/],
])("rejects a state with %s before sending", async (_, state, message) => {
  const { model, bodies } = answeringModel();
  const failure = decide({ model, state, questions: scamQuestion });
  await expect(failure).rejects.toBeInstanceOf(InvalidRequestError);
  await expect(failure).rejects.toThrow(message);
  expect(bodies).toEqual([]);
});

test("sends questions as text, without null descriptions", async () => {
  const answers = {
    pick: { type: "choice", choice: "a", probabilities: { a: 1 } },
    rate: { type: "score", score: 0, probabilities: { "0": 1 } },
    plain: { type: "boolean", probability: 0 },
    told: { type: "boolean", probability: 1 },
  };
  const { model, bodies } = answeringModel(() => Response.json({ ...gatewayBody, answers }));
  const questions = {
    pick: { type: "choice", instructions: "Which?", criteria: { a: null } },
    rate: { type: "score", instructions: "How?", criteria: ["none"] },
    plain: { type: "boolean", instructions: "Sure?", criteria: { true: null } },
    told: { type: "boolean", instructions: "Sure?", criteria: { true: "yes", false: null } },
  } as const;
  await decide({ model, state: "hi", questions });
  expect(bodies[0]?.questions).toEqual({
    ...questions,
    pick: { type: "choice", instructions: "Which?", criteria: { a: "" } },
    plain: { type: "boolean", instructions: "Sure?" },
    told: { type: "boolean", instructions: "Sure?", criteria: { true: "yes" } },
  });
});

const how = { type: "score", instructions: "How?" } as const;
test.each<[string, DecisionQuestion]>([
  ["no instructions", { type: "choice", criteria: { a: "A" } }],
  ["null instructions", { ...how, instructions: null, criteria: ["a"] }],
])("rejects a question with %s, and names it", async (_, question) => {
  const { model, bodies } = answeringModel();
  const failure = decide({
    model,
    state: "hi",
    questions: { fine: scamQuestion.scam, odd: question },
  });
  await expect(failure).rejects.toBeInstanceOf(InvalidRequestError);
  await expect(failure).rejects.toMatchObject({
    questionId: "odd",
    message: expect.stringContaining('The question "odd" has no instructions'),
  });
  expect(bodies).toEqual([]);
});

test("leaves a box question to the package, and rejects one asked directly", async () => {
  const { model, bodies } = answeringModel();
  const questions = { where: { type: "box", instructions: "Where?" } } as const;
  await expect(decide({ model, state: "hi", questions })).rejects.toMatchObject({
    name: "AI_DecisionUnsupportedQuestionTypeError",
  });
  const direct = model.doDecide({ state: [{ type: "text", text: "hi" }], questions });
  await expect(direct).rejects.toMatchObject({ questionId: "where" });
  expect(bodies).toEqual([]);
});

test("warns about the options that an evaluator ignores", async () => {
  const { model } = answeringModel();
  const { warnings } = await decide({
    model,
    state: "hi",
    questions: scamQuestion,
    maxOutputTokens: 10,
    reasoning: "low",
  });
  expect(warnings).toMatchObject(
    ["maxOutputTokens", "reasoning"].map((feature) => ({
      type: "unsupported",
      feature,
    })),
  );
  const usual = await decide({
    model,
    state: "hi",
    questions: scamQuestion,
    reasoning: "provider-default",
  });
  expect(usual.warnings).toEqual([]);
});

test("sends the headers and the provider options of a call, and rejects wrong ones", async () => {
  const sent: RequestInit[] = [];
  const fetch = async (_: string, init: RequestInit) => {
    sent.push(init);
    return Response.json(scamBody);
  };
  const transport = gatewayTransport({ apiKey: "a-gateway-key", env: {}, fetch });
  const model = toDecisionModel(createEvaluator({ transport, maxRetries: 0 }));
  const providerOptions = { gateway: { order: ["a"], zeroDataRetention: true } };
  const call = { model, state: "hi", questions: scamQuestion, headers: { "x-team": "a" } };
  const { warnings } = await decide({ ...call, providerOptions });
  expect(warnings).toEqual([]);
  expect(JSON.parse(sent[0]?.body as string)).toMatchObject({ providerOptions });
  expect(new Headers(sent[0]?.headers).get("x-team")).toBe("a");
  const wrong = { gateway: { zeroDataRetention: "yes" } };
  await expect(decide({ ...call, providerOptions: wrong })).rejects.toThrow("zeroDataRetention");
  expect(sent).toHaveLength(1);
});

test("passes the service's own warnings on", async () => {
  const own = { type: "other", message: "careful" };
  const warnings = [own, "beware", { code: 7 }];
  const { model } = answeringModel(() => Response.json({ ...scamBody, warnings }));
  const result = await decide({ model, state: "hi", questions: scamQuestion });
  expect(result.warnings).toEqual([
    own,
    { type: "other", message: "beware" },
    { type: "other", message: '{"code":7}' },
  ]);
});
