import { GoogleGenAI } from "@google/genai";
import { OpenRouter } from "@openrouter/sdk";
import { choice, noul, score, TypeSafeClient } from "@typesafe-ai/sdk";
import { createGateway, experimental_decide as decide } from "ai";
import {
  createGateway as createFirstGateway,
  experimental_evaluate as evaluate,
} from "ai-contract";
import {
  boolean,
  choice as ownChoice,
  createEvaluator,
  directTransport,
  gatewayTransport,
  score as ownScore,
  type Transport,
} from "evaluator-client";
import OpenAI from "openai";
import { afterAll, beforeEach, expect, test } from "vitest";
import { parseRouterOptions } from "../../apps/router/src/router-options.ts";
import { connectServices } from "../../apps/router/src/services/connect-services.ts";
import { startTestRouter } from "../../apps/router/src/testing/test-router.ts";
import { emulator, fault, origin } from "./decision-clients.ts";

// The clients get the router's address and the team's key, and nothing else.

beforeEach(() => emulator.reset());
afterAll(() => emulator.close());

const token = "the-key-of-the-team";

/** Starts a router in front of the emulator, and returns its address. */
async function routerOrigin(): Promise<string> {
  const env = {
    AI_GATEWAY_API_KEY: "right-key",
    EVALUATOR_BASE_URL: `${origin}/v4/ai`,
    ROUTER_ACCESS_TOKEN: token,
  };
  const services = connectServices(parseRouterOptions(env));
  return (await startTestRouter({}, { env, services })).origin;
}

const state = "You have won the lottery";
const instructions = "What is it?";
const criteria = { prize: "a lottery", other: "the rest" };
const levels: [string, string] = ["fine", "fraud"];
const map = {
  scam: { type: "boolean" as const, instructions },
  kind: { type: "choice" as const, instructions, criteria },
  level: { type: "score" as const, instructions, criteria: levels },
};
const vendorMap = { ...map, scam: { type: "noul" as const, instructions } };

const ask = {
  "@typesafe-ai/sdk": (apiKey: string, baseURL: string) =>
    new TypeSafeClient({ apiKey, baseURL, logLevel: "off", retry: { maxRetries: 0 } })
      .systemOne({
        state,
        questions: {
          scam: noul(instructions),
          kind: choice(instructions, criteria),
          level: score(instructions, levels),
        },
      })
      .then(({ answers }) => answers),
  openai: async (apiKey: string, address: string) => {
    const client = new OpenAI({ apiKey, baseURL: `${address}/v1`, maxRetries: 0 });
    const choices = Object.entries(criteria).map(([value, description]) => ({
      value,
      description,
    }));
    const { answers } = await client.decisions.create({
      model: "gpt-6-luna",
      input: state,
      questions: [
        { type: "predicate", name: "scam", instructions },
        { type: "choice", name: "kind", instructions, choices },
        { type: "score", name: "level", instructions, levels: levels.map((label) => ({ label })) },
      ],
    });
    return Object.fromEntries(answers.map((answer) => [answer.name, answer]));
  },
  "@google/genai": async (apiKey: string, baseUrl: string) => {
    const { decisions } = new GoogleGenAI({ apiKey, httpOptions: { baseUrl } });
    const asked = { model: "gemini-decision-1", input: state, questions: vendorMap };
    return (await decisions.create(asked, { maxRetries: 0 })).answers ?? {};
  },
  "@openrouter/sdk, decisions": async (apiKey: string, address: string) => {
    const decisionsRequest = { model: "typesafe/jev-1.14", state, questions: vendorMap };
    const options = { serverURL: address, retries: { strategy: "none" as const } };
    const { alpha } = new OpenRouter({ apiKey });
    return (await alpha.decisions.create({ decisionsRequest }, options)).answers;
  },
  "@openrouter/sdk, systemOne": async (apiKey: string, address: string) => {
    const { systemOne } = new OpenRouter({ apiKey, serverURL: `${address}/api/v1` });
    const decisionsRequest = { model: "jev-latest", state, questions: vendorMap };
    const options = { retries: { strategy: "none" as const } };
    return (await systemOne.create({ decisionsRequest }, options)).answers;
  },
  "ai, evaluate": async (apiKey: string, address: string) => {
    const gateway = createFirstGateway({ apiKey, baseURL: `${address}/v4/ai` });
    const model = gateway.evaluationModel("typesafe-ai/jev");
    return (await evaluate({ model, state, questions: map, maxRetries: 0 })).answers;
  },
  "ai, decide": async (apiKey: string, address: string) => {
    const gateway = createGateway({ apiKey, baseURL: `${address}/v4/ai` });
    const model = gateway.decisionModel("typesafe-ai/jev");
    return (await decide({ model, state, questions: map, maxRetries: 0 })).answers;
  },
  "evaluator-client, gateway": (apiKey: string, address: string) =>
    askOwn(gatewayTransport({ apiKey, baseUrl: `${address}/v4/ai` })),
  "evaluator-client, direct": (apiKey: string, baseUrl: string) =>
    askOwn(directTransport({ apiKey, baseUrl })),
};

async function askOwn(transport: Transport) {
  const questions = {
    scam: boolean(instructions),
    kind: ownChoice(instructions, criteria),
    level: ownScore(instructions, levels),
  };
  const evaluator = createEvaluator({ transport, maxRetries: 0 });
  try {
    return (await evaluator.evaluate({ state, questions })).answers;
  } finally {
    await evaluator.close();
  }
}

type ClientName = keyof typeof ask;
const names = Object.keys(ask) as ClientName[];

const probability = { prize: 0.63, other: 0.38 };
const answers: Readonly<Record<"noul" | "list" | "gateway", object>> = {
  noul: {
    scam: { type: "noul", noul: 0.88 },
    kind: { choice: "prize", probabilities: probability, confidence: expect.any(Number) },
    level: { score: 0.81, probabilities: { "0": 0.19, "1": 0.81 }, legend: { "1": "fraud" } },
  },
  list: {
    scam: { type: "predicate", probability: 0.88 },
    kind: { choice: "prize", probabilities: [{ value: "prize", probability: 0.63 }, {}] },
    level: { score: 0.81, probabilities: [{ label: "fine" }, { label: "fraud" }] },
  },
  gateway: {
    scam: { probability: 0.88 },
    kind: { choice: "prize", probabilities: probability },
    level: { score: 0.81, probabilities: { "0": 0.19, "1": 0.81 } },
  },
};
const formOf: Readonly<Partial<Record<ClientName, keyof typeof answers>>> = {
  "@typesafe-ai/sdk": "noul",
  openai: "list",
  "@google/genai": "noul",
  "@openrouter/sdk, decisions": "noul",
  "@openrouter/sdk, systemOne": "noul",
};

test.each(names)("%s gets an answer of each kind from the router", async (name) => {
  const found = await ask[name](token, await routerOrigin());
  expect(found).toMatchObject(answers[formOf[name] ?? "gateway"]);
});

// OpenRouter's client understands only the error body of its service.
test.each<[ClientName, wrongKey: string, broken: string]>([
  ["@typesafe-ai/sdk", "AuthenticationError", "InternalServerError"],
  ["openai", "AuthenticationError", "InternalServerError"],
  ["@google/genai", "AuthenticationError", "InternalServerError"],
  ["ai, evaluate", "GatewayAuthenticationError", "GatewayInternalServerError"],
  ["ai, decide", "GatewayAuthenticationError", "GatewayInternalServerError"],
  ["evaluator-client, gateway", "AuthenticationError", "StatusError"],
  ["evaluator-client, direct", "AuthenticationError", "StatusError"],
])(
  "%s shows a wrong key as %s, and an answer that breaks a rule as %s",
  async (name, wrongKey, broken) => {
    const address = await routerOrigin();
    const failureOf = (key: string) =>
      ask[name](key, address).then(
        () => null,
        (error: Error) => error.constructor.name,
      );
    expect(await failureOf("wrong")).toBe(wrongKey);
    await fault({ kind: "wrong-sums" });
    expect(await failureOf(token)).toBe(broken);
  },
);
