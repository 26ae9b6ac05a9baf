import {
  createEvaluator,
  directTransport,
  type Evaluation,
  logprobsTransport,
} from "evaluator-client";
import { boolean, choice, score } from "evaluator-client";
import { describe, expect, test } from "vitest";
import { createEmulator, type EmulatorOptions } from "../create-emulator.ts";
import { type EngineName, engineNames } from "./engines.ts";

const request = {
  state: { from: "Acme", subject: "Your receipt", snippet: "Amount paid: $20.00" },
  questions: {
    category: choice("Which kind?", { receipt: "a payment receipt", other: "none of the above" }),
    importance: score("How important?", ["ignore: nothing to do", "critical: a deadline today"]),
    scam: boolean("Is it a scam?"),
  },
};

function evaluatorOn(engine: EngineName, options: EmulatorOptions = {}) {
  const { fetch } = createEmulator({ exchanges: [], engine, ...options });
  const own = { baseUrl: "http://127.0.0.1:8787", model: "local/lexical-1", env: {}, fetch };
  return createEvaluator({ transport: logprobsTransport(own), limits: {}, maxRetries: 0 });
}

/** What the vendor's side of the same emulator answers. */
async function vendorAnswers(asked: typeof request): Promise<Evaluation["answers"]> {
  const { fetch } = createEmulator({ exchanges: [] });
  const transport = directTransport({ apiKey: null, fetch });
  return (await createEvaluator({ transport }).evaluate(asked)).answers;
}

describe.each(engineNames)("%s", (engine) => {
  test("is recognised, and answers what the vendor's side answers", async () => {
    const { answers } = await evaluatorOn(engine).evaluate(request);
    const vendor = (await vendorAnswers(request)) as typeof answers;
    expect(answers.category.choice).toBe(vendor.category.choice);
    expect(answers.category.probabilities.receipt).toBeCloseTo(
      vendor.category.probabilities.receipt,
      2,
    );
    expect(answers.importance.score).toBeCloseTo(vendor.importance.score, 1);
    expect(answers.scam.probability).toBeCloseTo(vendor.scam.probability, 2);
  });

  test.each([
    ["probability-as-logprob", { name: "InvalidResponseError", rule: "logprob-range" }],
    ["no-logprobs", { name: "ConfigurationError" }],
    ["low-label-mass", { name: "InvalidResponseError", rule: "label-mass" }],
  ] as const)("ends the trap %s as the client says", async (kind, fields) => {
    const evaluator = evaluatorOn(engine, { faults: [{ kind }] });
    await expect(evaluator.evaluate(request)).rejects.toMatchObject(fields);
  });

  test.each(["filler", "short-list"] as const)("ends the trap %s as truncated", async (kind) => {
    const evaluator = evaluatorOn(engine, { faults: [{ kind }] });
    const { state, questions } = request;
    const asked = evaluator.evaluate({ state, questions: { category: questions.category } });
    await expect(asked).rejects.toMatchObject({
      rule: "readout-truncated",
      questionId: "category",
    });
  });

  test("ends the trap thinking-first with what to switch off", async () => {
    const evaluator = evaluatorOn(engine, { faults: [{ kind: "thinking-first" }] });
    await expect(evaluator.evaluate(request)).rejects.toMatchObject({
      message: expect.stringMatching(/switch thinking off/i),
    });
  });
});

test.each(["openai", "vllm", "sglang"] as const)("%s has the decisions form", async (engine) => {
  const { fetch } = createEmulator({ exchanges: [], engine });
  const transport = directTransport({ ...own, fetch });
  const { answers } = await createEvaluator({ transport }).evaluate(request);
  expect(answers).toEqual(await vendorAnswers(request));
});

const own = {
  wire: "decisions",
  baseUrl: "http://127.0.0.1:8787",
  model: "m",
  apiKey: null,
  env: {},
} as const;

test("forty options are read by blocks, and by number where each is one token", async () => {
  const names = Array.from({ length: 40 }, (_, index) => [
    `kind ${index}`,
    index === 7 ? "a receipt" : "x",
  ]);
  const questions = {
    which: choice("Which?", Object.fromEntries(names) as Record<string, string>),
  };
  for (const [engine, calls] of [
    ["openai", 5],
    ["vllm", 2],
  ] as const) {
    const { answers, providerMetadata } = await evaluatorOn(engine).evaluate({
      ...request,
      questions,
    });
    expect(answers.which.choice).toBe("kind 7");
    const { which } = (providerMetadata as { logprobs: { which: { calls: number } } }).logprobs;
    expect(which.calls).toBeGreaterThanOrEqual(calls);
  }
});

test("a prompt of another kind is answered with no label", async () => {
  const { fetch } = createEmulator({ engine: "openai" });
  const body = JSON.stringify({
    messages: [{ role: "user", content: "Hi" }],
    logprobs: true,
    top_logprobs: 2,
  });
  const response = await fetch("/v1/chat/completions", { method: "POST", body });
  expect(response.headers.get("x-evaluator-emulator")).toBe("basis=none");
  expect(await response.json()).toMatchObject({ choices: [{ message: { content: "The" } }] });
});

test.each([
  [{}, "stop"],
  [{ max_tokens: 1 }, "length"],
  [{ max_completion_tokens: 1 }, "length"],
])("a reply of one token with the limit %j ends by %s", async (limit, finish_reason) => {
  const { fetch } = createEmulator({ engine: "openai" });
  const messages = [{ role: "user", content: "Hi" }];
  const body = JSON.stringify({ messages, logprobs: true, ...limit });
  const response = await fetch("/v1/chat/completions", { method: "POST", body });
  expect(await response.json()).toMatchObject({ created: 0, choices: [{ finish_reason }] });
});

test("with given keys, a wrong one is rejected in the chat's own shape", async () => {
  const { fetch } = createEmulator({ engine: "ollama", keys: ["right"] });
  const response = await fetch("/v1/models", { headers: { authorization: "Bearer wrong" } });
  expect(response.status).toBe(401);
  expect(await response.json()).toMatchObject({ error: { type: "authentication_error" } });
});

test("a body that is none is a 4xx of the chat's shape, on every route", async () => {
  const { fetch } = createEmulator({ engine: "sglang" });
  for (const path of ["/v1/chat/completions", "/tokenize", "/generate", "/v1/decisions"]) {
    for (const body of ["{", "[]", "{}"]) {
      const { status } = await fetch(path, { method: "POST", body });
      expect([200, 400, 422]).toContain(status);
    }
  }
});

test("the list of models has the engine's first, then the gateway's with their prices", async () => {
  const { fetch } = createEmulator({ engine: "vllm" });
  const { data } = (await (await fetch("/v1/models")).json()) as { data: object[] };
  const gateway: unknown = await (await createEmulator().fetch("/v1/models")).json();
  expect(data[0]).toEqual({ id: "local/lexical-1", object: "model", owned_by: "vllm" });
  expect({ object: "list", data: data.slice(1) }).toEqual(gateway);
  expect(data[1]).toMatchObject({ id: "typesafe-ai/jev", pricing: { input: "0.000000042" } });
});

test("without an engine, its addresses are the gateway's", async () => {
  const { fetch } = createEmulator();
  expect((await fetch("/v1/chat/completions", { method: "POST", body: "{}" })).status).toBe(404);
  const models = (await (await fetch("/v1/models")).json()) as { data: unknown[] };
  expect(models.data.length).toBeGreaterThan(1);
});

test.each(engineNames)(
  "a chat without log-probabilities on %s gets a reply, whole and streamed",
  async (engine) => {
    const { fetch } = createEmulator({ engine });
    const ask = (more: object) => {
      const messages = [{ role: "user", content: "hi" }];
      const body = JSON.stringify({ model: "m", messages, ...more });
      return fetch("/v1/chat/completions", { method: "POST", body });
    };
    const whole = (await (await ask({})).json()) as WholeChat;
    expect(whole.choices[0]?.message.content).toContain('You asked: "hi"');
    const text = await (
      await ask({ stream: true, stream_options: { include_usage: true } })
    ).text();
    const events = text.trimEnd().split("\n\n");
    expect(events.at(-1)).toBe("data: [DONE]");
    const chunks = events.slice(0, -1).map((event) => JSON.parse(event.slice(6)) as ChatChunk);
    const words = chunks.map(({ choices }) => choices[0]?.delta.content ?? "");
    expect(words.join("")).toBe(whole.choices[0]?.message.content);
    expect(chunks.at(-1)?.usage).toEqual(whole.usage);
    expect(await (await ask({ stream: true })).text()).not.toContain("usage");
  },
);

interface WholeChat {
  readonly choices: readonly { readonly message: { readonly content: string } }[];
  readonly usage: unknown;
}

interface ChatChunk {
  readonly choices: readonly { readonly delta: { readonly content?: string } }[];
  readonly usage?: unknown;
}

const mood = { type: "object", properties: { mood: { enum: ["glad", "sad"] } } };

test.each([
  [{ response_format: { type: "json_schema", json_schema: { schema: mood } } }, '{"mood":"sad"}'],
  [{ response_format: { type: "json_object", schema: mood } }, '{"mood":"sad"}'],
  [{ response_format: { type: "json_object" } }, expect.stringMatching(/^\{"reply":/)],
  [{ response_format: { type: "text" } }, expect.stringMatching(/^This reply comes/)],
])("a chat with %j has the wanted form", async (wanted, content) => {
  const { fetch } = createEmulator({ engine: "openai" });
  const messages = [{ role: "user", content: "A sad film" }];
  const body = JSON.stringify({ model: "m", messages, ...wanted });
  const reply = await fetch("/v1/chat/completions", { method: "POST", body });
  expect(await reply.json()).toMatchObject({ choices: [{ message: { content } }] });
});
