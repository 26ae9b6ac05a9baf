import { expect, test } from "vitest";
import { createEvaluator } from "../../create-evaluator.ts";
import { boolean, choice, score } from "../../questions/question.ts";
import type { EvaluationRequest } from "../../questions/request.ts";
import { directTransport, type DirectTransportOptions } from "./direct-transport.ts";

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
  {
    options = {},
    asked = request,
  }: { options?: DirectTransportOptions; asked?: EvaluationRequest } = {},
) {
  const fetch = async (url: string, init: RequestInit) =>
    respond({ url, body: JSON.parse(init.body as string) });
  const transport = directTransport({ ...own, wire: "decisions", fetch, ...options });
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

test("gives the answers in the gateway's form, without a confidence of its own meaning", async () => {
  const headers = { "x-request-id": "r1" };
  expect(await ask(() => Response.json(body, { headers }))).toMatchObject({
    answers: {
      category: { type: "choice", choice: "receipt", probabilities: { receipt: 0.9, other: 0.1 } },
      satisfaction: { type: "score", score: 1.8, probabilities: { 0: 0.05, 1: 0.1, 2: 0.85 } },
      approved: { type: "boolean", probability: 0.95 },
    },
    confidence: { category: null, satisfaction: null },
    providerMetadata: {
      decisions: { category: { confidence: 0.8 }, satisfaction: { confidence: 0.7 }, approved: {} },
    },
    usage: { inputTokens: 164, outputTokens: 0 },
    modelId: "gpt-6-luna",
    requestId: "r1",
    raw: body,
  });
});

test("ids that the form does not take go by number, and come back as they were", async () => {
  const questions = Object.fromEntries([
    ["__proto__", boolean("a?")],
    ["", boolean("b?")],
    ["two words", boolean("c?")],
  ]);
  const named = [1, 2, 3].map((number) => {
    return { type: "predicate", name: `question_${number}`, probability: number / 10 };
  });
  const evaluation = await ask(() => Response.json({ ...body, answers: named }), {
    asked: { state: "x", questions },
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

test.each<[string, unknown, string, string | null]>([
  ["another order", [second, first, third], "answer-ids", "category"],
  ["another name", [{ ...first, name: "kind" }, second, third], "answer-ids", "category"],
  ["no name", [{ ...first, name: null }, second, third], "answer-ids", "category"],
  ["a missing answer", [first, second], "answer-ids", "approved"],
  ["an answer too many", [...answers, third], "answer-ids", null],
  [
    "two probabilities for one option",
    [
      {
        ...first,
        probabilities: [
          ...(first as { probabilities: object[] }).probabilities,
          { value: "other", probability: 0 },
        ],
      },
      second,
      third,
    ],
    "probabilities-keys",
    "category",
  ],
  ["no list", { category: first }, "body-shape", null],
  ["an unknown type", [{ ...first, type: "rank" }, second, third], "body-shape", null],
])("rejects answers with %s", async (_, given, rule, questionId) => {
  await expect(ask(() => Response.json({ ...body, answers: given }))).rejects.toMatchObject({
    name: "InvalidResponseError",
    rule,
    questionId,
  });
});

test.each<[number, unknown, string]>([
  [
    501,
    {
      error: {
        code: 501,
        message: "This model is not a decision model",
        type: "not_supported_error",
      },
    },
    'The vendor\'s API answered 501 (not_supported_error): "This model is not a decision model" This server runs a model that is no decision model: load one there, or read a chat model with logprobsTransport.',
  ],
  [
    400,
    { error: "choice questions take 2 to 26 options, got 255" },
    'The vendor\'s API answered 400: "choice questions take 2 to 26 options, got 255" Where it is about how many: Ollama takes 2 to 26 options, vLLM 26 and some hosted servers 208, while the vendor takes 255. Ask with fewer, or set questionLimits.maxOptions so that more are refused before sending.',
  ],
  [
    422,
    {
      detail: [
        {
          loc: ["body", "questions", 0, "choices"],
          msg: "List should have at most 26 items",
          input: "x",
        },
      ],
    },
    "26 options",
  ],
])("tells of a server's own %d", async (status, answered, message) => {
  for (const wire of ["systemone", "decisions"] as const) {
    const asked = ask(() => Response.json(answered, { status }), { options: { wire } });
    await expect(asked).rejects.toMatchObject({
      status,
      isRetryable: false,
      message: expect.stringContaining(message),
    });
  }
});

test("needs an address and a model of its own, and knows its wires", () => {
  const make = (options: DirectTransportOptions) => () =>
    directTransport({ apiKey: null, env: {}, ...options });
  const rejected = (option: string) =>
    expect.objectContaining({ name: "ConfigurationError", option });
  expect(make({ wire: "decisions", model: "m" })).toThrow(rejected("baseUrl"));
  expect(make({ wire: "decisions", baseUrl: "http://127.0.0.1" })).toThrow(rejected("model"));
  expect(make({ wire: "pigeon" as never })).toThrow(rejected("wire"));
  expect(directTransport({ ...own, wire: "decisions" }).limits).toBeUndefined();
});
