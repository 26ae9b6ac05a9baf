import { expect, test } from "vitest";
import { createEvaluator } from "../../create-evaluator.ts";
import { boolean, choice, score } from "../../questions/kinds.ts";
import type { EvaluationRequest } from "../../questions/request.ts";
import { decisionsForm } from "./decisions-wire.ts";
import { directTransport } from "./direct-transport.ts";

const own = { apiKey: null, baseUrl: "http://127.0.0.1:8000/v1", model: "a-model", env: {} };
const request = {
  state: { subject: "Your invoice" },
  questions: {
    category: choice("Which?", { receipt: "a payment receipt", other: "" }),
    satisfaction: score("How much?", ["low", "neutral", "high"]),
    approved: boolean("Is it?", { true: "signed" }),
  },
};
/** As the reference of the form prints its answers. */
const answers = [
  {
    type: "choice",
    name: "category",
    choice: "receipt",
    probabilities: [
      { value: "receipt", probability: 0.9 },
      { value: "other", probability: 0.1 },
    ],
    confidence: 0.8,
  },
  {
    type: "score",
    name: "satisfaction",
    score: 1.8,
    probabilities: [
      { value: 0, label: "low", probability: 0.05 },
      { value: 1, label: "neutral", probability: 0.1 },
      { value: 2, label: "high", probability: 0.85 },
    ],
    confidence: 0.7,
  },
  { type: "predicate", name: "approved", probability: 0.95 },
];
const usage = { input_tokens: 164, output_tokens: 0, total_tokens: 164 };
const body = { model: "gpt-6-luna", answers, usage };

function ask(
  respond: (sent: { url: string; body: unknown }) => Response,
  asked: EvaluationRequest = request,
) {
  const fetch = async (url: string, init: RequestInit) =>
    respond({ url, body: JSON.parse(init.body as string) });
  const transport = directTransport({ ...own, wire: "decisions", fetch });
  return createEvaluator({ transport, maxRetries: 0 }).evaluate(asked);
}

test("asks a list of named questions about the state as text", async () => {
  const sent: unknown[] = [];
  await ask((call) => (sent.push(call), Response.json(body)));
  expect(sent).toEqual([
    {
      url: "http://127.0.0.1:8000/v1/decisions",
      body: {
        model: "a-model",
        input: '{"subject":"Your invoice"}',
        questions: [
          {
            type: "choice",
            name: "category",
            instructions: "Which?",
            choices: [{ value: "receipt", description: "a payment receipt" }, { value: "other" }],
          },
          {
            type: "score",
            name: "satisfaction",
            instructions: "How much?",
            levels: [{ label: "low" }, { label: "neutral" }, { label: "high" }],
          },
          { type: "predicate", name: "approved", instructions: "Is it? It is so when: signed" },
        ],
      },
    },
  ]);
});

test("maps answers to the gateway's form, without the server's confidence", async () => {
  const headers = { "x-request-id": "r1" };
  expect(await ask(() => Response.json(body, { headers }))).toMatchObject({
    answers: {
      category: { type: "choice", choice: "receipt", probabilities: { receipt: 0.9, other: 0.1 } },
      satisfaction: { type: "score", score: 1.8, probabilities: { 0: 0.05, 1: 0.1, 2: 0.85 } },
      approved: { type: "boolean", probability: 0.95 },
    },
    confidence: { category: null, satisfaction: null },
    warnings: [],
    transport: "direct",
    providerMetadata: {
      decisions: { category: { confidence: 0.8 }, satisfaction: { confidence: 0.7 }, approved: {} },
    },
    usage: { inputTokens: 164, outputTokens: 0 },
    modelId: "gpt-6-luna",
    requestId: "r1",
    raw: body,
  });
});

test.each<[{ true?: string; false?: string }, string]>([
  [{}, "Is it?"],
  [{ false: "unsigned" }, "Is it? It is not so when: unsigned"],
  [
    { true: "signed", false: "unsigned" },
    "Is it? It is so when: signed It is not so when: unsigned",
  ],
])("writes the criteria %j into the question", (criteria, instructions) => {
  const asked = { state: "text", questions: { approved: boolean("Is it?", criteria) } };
  expect(JSON.parse(decisionsForm.toBody(asked, "a-model"))).toEqual({
    model: "a-model",
    input: "text",
    questions: [{ type: "predicate", name: "approved", instructions }],
  });
});

test("takes no confidence from a question of that name", () => {
  const questions = { confidence: boolean("Is it?") };
  const named = [{ type: "predicate", name: "confidence", probability: 0.5, confidence: 0.9 }];
  const reply = decisionsForm.read({ ...body, answers: named }, questions, { vendor: "acme" });
  expect(reply.definesConfidence).toBe(false);
});

test.each([
  ["x".repeat(64), "x".repeat(64)],
  ["x".repeat(65), "question_1"],
  ["two words", "question_1"],
  ["words…", "question_1"],
  ["…words", "question_1"],
])("the id %s goes by the name %s", (id, name) => {
  const questions = { [id]: boolean("a?") };
  expect(JSON.parse(decisionsForm.toBody({ state: "x", questions }, "m"))).toMatchObject({
    questions: [{ name }],
  });
});

test("ids that the form does not take are sent as numbers and returned as ids", async () => {
  const questions = Object.fromEntries([
    ["__proto__", boolean("a?")],
    ["", boolean("b?")],
    ["two words", boolean("c?")],
  ]);
  const named = [1, 2, 3].map((number) => {
    return { type: "predicate", name: `question_${number}`, probability: number / 10 };
  });
  const evaluation = await ask(() => Response.json({ ...body, answers: named }), {
    state: "x",
    questions,
  });
  expect(Object.entries(evaluation.answers)).toEqual([
    ["__proto__", { type: "boolean", probability: 0.1 }],
    ["", { type: "boolean", probability: 0.2 }],
    ["two words", { type: "boolean", probability: 0.3 }],
  ]);
});

test("a refused question is a RefusalError that names it", async () => {
  const refused = [{ type: "refusal", name: "category", refusal: "No." }, ...answers.slice(1)];
  await expect(ask(() => Response.json({ ...body, answers: refused }))).rejects.toMatchObject({
    name: "RefusalError",
    questionIds: ["category"],
  });
});

const [first, second, third] = answers;

const elsewhere = (id: string) =>
  `The answer in the place of "${id}" belongs to no question or to another one (rule answer-ids); none is used, and asking again may not help.`;
const doubled = {
  ...first,
  probabilities: [
    { value: "receipt", probability: 0.9 },
    { value: "other", probability: 0.1 },
    { value: "other", probability: 0 },
  ],
};

test.each<[string, unknown, string, string | null, string]>([
  ["another order", [second, first, third], "answer-ids", "category", elsewhere("category")],
  [
    "another name",
    [{ ...first, name: "kind" }, second, third],
    "answer-ids",
    "category",
    elsewhere("category"),
  ],
  [
    "no name",
    [{ ...first, name: null }, second, third],
    "answer-ids",
    "category",
    elsewhere("category"),
  ],
  ["a missing answer", [first, second], "answer-ids", "approved", elsewhere("approved")],
  [
    "an answer too many",
    [...answers, third],
    "answer-ids",
    null,
    "There are more answers than questions (rule answer-ids); none is used, and asking again may not help.",
  ],
  [
    "two probabilities for one option",
    [doubled, second, third],
    "probabilities-keys",
    "category",
    'The answer "category" has two probabilities for one option or level (rule probabilities-keys); it is not used. Asking again may not help.',
  ],
])("rejects answers with %s", async (_, given, rule, questionId, message) => {
  await expect(ask(() => Response.json({ ...body, answers: given }))).rejects.toMatchObject({
    name: "InvalidResponseError",
    rule,
    questionId,
    message,
  });
});

const firstLevel = { value: 0, probability: 1 };

test.each<[string, unknown, string]>([
  ["no object", [], "as a whole"],
  ["nothing", null, "as a whole"],
  ["no list of answers", { ...body, answers: { category: first } }, "at answers"],
  ["an unknown type", { ...body, answers: [{ ...first, type: "rank" }] }, "at answers"],
  [
    "an option that is a number",
    { ...body, answers: [{ ...first, probabilities: [firstLevel] }] },
    "at answers",
  ],
  [
    "an option without probability",
    { ...body, answers: [{ ...first, probabilities: [{ value: "receipt" }] }] },
    "at answers",
  ],
  [
    "a level by its name",
    { ...body, answers: [{ ...second, probabilities: [{ ...firstLevel, value: "low" }] }] },
    "at answers",
  ],
  ["usage of another kind", { ...body, usage: 7 }, "at usage"],
  ["no output tokens", { ...body, usage: { input_tokens: 1 } }, "at usage"],
  ["fewer than no tokens", { ...body, usage: { input_tokens: -1, output_tokens: 0 } }, "at usage"],
  ["a model that is a number", { ...body, model: 7 }, "at model"],
])("rejects a body with %s", async (_, json, where) => {
  await expect(ask(() => Response.json(json))).rejects.toMatchObject({
    name: "InvalidResponseError",
    rule: "body-shape",
    questionId: null,
    message: `The response body does not have the shape of /v1/decisions ${where}; check the base URL and the option "wire".`,
  });
});
