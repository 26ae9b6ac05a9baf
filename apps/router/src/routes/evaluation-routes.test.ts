import { expect, test } from "vitest";
import {
  answering,
  asked,
  gatewayAnswer,
  instructions,
  map,
  noul,
  post,
  predicate,
  state,
} from "../testing/evaluation-calls.ts";
import { testRouter } from "../testing/test-router.ts";

test("the vendor's form gets an answer of each kind, the levels as they were sent and the price", async () => {
  const router = await answering();
  const { status, body } = await post(router, "/v1/systemone", {
    model: "jev-latest",
    state,
    questions: map,
  });
  expect(status).toBe(200);
  expect(body).toEqual({
    model: "typesafe-ai/jev",
    answers: {
      scam: { type: "noul", noul: 0.25 },
      kind: {
        type: "choice",
        choice: "prize",
        probabilities: { prize: 0.7, other: 0.3 },
        confidence: 0.2,
      },
      level: {
        type: "score",
        score: 0.9,
        probabilities: { "0": 0.1, "1": 0.9 },
        confidence: 0.5,
        legend: { "0": "fine", "1": "fraud" },
      },
    },
    usage: { input_tokens: 50, output_tokens: 5, cost: 0.0000021 },
  });
  expect(router.seen).toEqual([
    { path: "/v4/ai/evaluation-model", body: { state, questions: asked } },
  ]);
});

test("OpenAI's form gets its answers in the order of the questions, with typed values", async () => {
  const parts = [
    { type: "input_text", text: instructions },
    { type: "input_json", data: { because: 1 } },
  ];
  const { scam, level } = gatewayAnswer().answers;
  const kind = { type: "choice", choice: "true", probabilities: { "true (boolean)": 0, true: 1 } };
  const router = await answering({ answers: { level, kind, scam } });
  const { body } = await post(router, "/v1/decisions", {
    model: "gpt-6-luna",
    input: [{ role: "user", content: [{ type: "input_text", text: state }] }],
    questions: [
      { type: "score", name: "level", instructions, levels: [{ label: "a" }, { label: "b" }] },
      { type: "choice", name: "kind", instructions, choices: [{ value: true }, { value: "true" }] },
      { ...predicate, instructions: parts },
    ],
  });
  expect(body).toMatchObject({
    answers: [
      {
        type: "score",
        name: "level",
        probabilities: [{ label: "a", value: 0 }, { probability: 0.9 }],
      },
      {
        type: "choice",
        name: "kind",
        choice: "true",
        probabilities: [{ value: true, probability: 0 }, { value: "true" }],
      },
      { type: "predicate", name: "scam", probability: 0.25 },
    ],
    usage: { input_tokens: 50, total_tokens: 55, cost: 0.0000021 },
  });
  const questions = { scam: { instructions: `${instructions}\n{"because":1}` } };
  expect(router.seen[0]?.body).toMatchObject({ state, questions });
});

test("unnamed questions of OpenAI's form are answered without a name", async () => {
  const question_1 = { type: "boolean", probability: 1 };
  const question_2 = { type: "boolean", probability: 0 };
  const router = await answering({ answers: { question_1, question_2 } });
  const questions = [{ type: "predicate", instructions }, predicate];
  const { body } = await post(router, "/v1/decisions", { input: state, questions });
  expect(body).toMatchObject({
    answers: [
      { name: null, probability: 1 },
      { name: "scam", probability: 0 },
    ],
  });
});

test("the path of OpenAI's form takes the vendor's form too, and keeps its own errors", async () => {
  const router = await answering({ answers: { scam: { type: "boolean", probability: 1 } } });
  const whole = await post(router, "/v1/decisions", { state, questions: { scam: noul } });
  expect(whole.body).toMatchObject({ answers: { scam: { type: "noul", noul: 1 } } });
  const wrong = await post(router, "/v1/decisions", {
    state,
    questions: { scam: { type: "bax" } },
  });
  expect(wrong).toMatchObject({
    status: 400,
    body: { error: { param: "questions.scam.type", type: "invalid_request_error" } },
  });
});

test.each(["evaluation-model", "decision-model"])(
  "the gateway's form %s gets the contract's body",
  async (wire) => {
    const router = await answering();
    const content =
      wire === "decision-model" ? { stateParts: [{ type: "text", text: state }] } : { state };
    const { body } = await post(router, `/v4/ai/${wire}`, { ...content, questions: asked });
    const { usage, ...rest } = gatewayAnswer();
    expect(body).toMatchObject({ ...rest, usage: { ...usage, cost: 0.0000021 } });
    expect(router.seen[0]?.body).toEqual({ state, questions: asked });
  },
);

test("instructions, descriptions and states of JSON reach a service that takes text", async () => {
  const router = await answering({ answers: { kind: gatewayAnswer().answers.kind } });
  const json = { because: ["it", "is"] };
  const kind = { type: "choice", instructions: json, criteria: { prize: json, other: null } };
  const list = [state, { mails: 2 }];
  const { status } = await post(router, "/v1/systemone", { state: list, questions: { kind } });
  expect(status).toBe(200);
  const text = JSON.stringify(json);
  expect(router.seen[0]?.body).toEqual({
    state: JSON.stringify(list),
    questions: {
      kind: { type: "choice", instructions: text, criteria: { prize: text, other: "" } },
    },
  });
});

test("ids such as __proto__ and 10 kB of text are ordinary ids", async () => {
  for (const id of ["__proto__", "constructor", "", "x".repeat(10_000)]) {
    const answers = `{${JSON.stringify(id)}:{"type":"boolean","probability":0.5}}`;
    const text = JSON.stringify(gatewayAnswer()).replace(
      /"answers":.*,"rounding"/,
      `"answers":${answers},"rounding"`,
    );
    const router = await testRouter({
      evaluation: () => new Response(text, { headers: { "content-type": "application/json" } }),
    });
    const body = `{"state":"s","questions":{${JSON.stringify(id)}:{"type":"noul","instructions":"Is it?"}}}`;
    const reply = await post(router, "/v1/systemone", body);
    expect(Object.entries(Object(reply.body).answers as object)).toEqual([
      [id, { type: "noul", noul: 0.5 }],
    ]);
  }
});

test("a refusal of one question is an answer in the forms that have one, else a 422", async () => {
  const answers = { ...gatewayAnswer().answers, scam: { type: "refusal" } };
  const choices = [{ value: "prize" }, { value: "other" }];
  const questions = [
    predicate,
    { type: "choice", name: "kind", instructions, choices },
    { type: "score", name: "level", instructions, levels: [{ label: "a" }, { label: "b" }] },
  ];
  const router = await answering({ answers });
  const openai = await post(router, "/v1/decisions", { input: state, questions });
  expect(openai.body).toMatchObject({
    answers: [{ type: "refusal", name: "scam" }, { choice: "prize" }, { score: 0.9 }],
    usage: { cost: 0.0000021 },
  });
  const body = { state, questions: asked };
  const gateway = await post(router, "/v4/ai/decision-model", body);
  expect(gateway.body).toMatchObject({ answers: { scam: { type: "refusal" } } });
  const contract = await post(router, "/v4/ai/evaluation-model", body);
  expect(contract).toMatchObject({ status: 422, body: { error: { code: "refusal" } } });
});

test("a list of models marks decision models, and the vendor's clients find theirs", async () => {
  const { request } = await testRouter();
  const id = "typesafe-ai/jev";
  expect(await (await request("/v1/models")).json()).toMatchObject({
    data: expect.arrayContaining([
      { id, object: "model", created: 0, owned_by: "router", type: "decision" },
    ]),
    models: [{ name: id, description: expect.any(String) }],
  });
  expect(await (await request(`/v1/models/${id}`)).json()).toMatchObject({ id, type: "decision" });
  const headers = { "anthropic-version": "2023-06-01" };
  expect(await (await request("/v1/models", { headers })).json()).toMatchObject({
    data: expect.arrayContaining([
      expect.objectContaining({ display_name: `${id} (decision model)` }),
    ]),
  });
});

test("Google's form gets a confidence by Google's definition, and its counts", async () => {
  const router = await answering();
  const { status, body } = await post(router, "/v1/decisions", {
    model: "gemini-decision-1",
    input: [{ type: "text", text: state }],
    questions: {
      ...map,
      scam: {
        type: "noul",
        instructions: [
          { type: "text", text: "What" },
          { type: "text", text: "is it?" },
        ],
        criteria: { true_description: "a scam" },
      },
    },
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    answers: {
      scam: { type: "noul", noul: 0.25, confidence: 0.75 },
      kind: { choice: "prize", probabilities: { prize: 0.7, other: 0.3 }, confidence: 0.7 },
      level: { score: 0.9, legend: { "0": "fine", "1": "fraud" }, confidence: 0.9 },
    },
    usage: { total_input_tokens: 50, total_output_tokens: 5, total_tokens: 55 },
  });
  expect(router.seen[0]?.body).toMatchObject({
    questions: { ...asked, scam: { instructions: "What\nis it?", criteria: { true: "a scam" } } },
  });
});

test.each([
  { input: [], param: "input" },
  { input: [{ type: "text" }], param: "input.0.text" },
  { input: [{ type: "video", uri: "a" }], param: "input.0.type" },
  { input: { type: "image" }, param: "input.0" },
])("Google's form names a wrong $param", async ({ input, param }) => {
  const router = await answering();
  const { status, body } = await post(router, "/v1/decisions", { input, questions: map });
  expect({ status, body }).toMatchObject({ status: 400, body: { error: { param } } });
});

test.each(["/v1beta/decisions", "/api/alpha/decisions", "/alpha/decisions", "/api/v1/systemone/"])(
  "the path %s of other services is understood",
  async (path) => {
    const router = await answering();
    const reply = await post(router, path, { state, questions: map });
    expect(reply).toMatchObject({ status: 200, body: { answers: { scam: { noul: 0.25 } } } });
  },
);

test("the vendor's form has its own header of the request's id, also beside an error", async () => {
  const router = await answering();
  const idsOf = async (path: string, body: object) => {
    const { status, headers } = await post(router, path, body);
    return [status, headers.get("x-request-id"), headers.get("x-typesafe-request-id")];
  };
  const id = expect.stringMatching(/^[0-9a-f-]{36}$/);
  const answered = await idsOf("/v1/systemone", { state, questions: map });
  expect(answered).toEqual([200, id, answered[1]]);
  const refused = await idsOf("/v1/systemone", {});
  expect(refused).toEqual([422, id, refused[1]]);
  expect(await idsOf("/v1/decisions", {})).toEqual([400, id, null]);
});
