import { GoogleGenAI } from "@google/genai";
import { OpenRouter } from "@openrouter/sdk";
import { choice, noul, score, TypeSafeClient } from "@typesafe-ai/sdk";
import { createGateway, experimental_decide as decide } from "ai";
import {
  createGateway as createContractGateway,
  experimental_evaluate as evaluate,
} from "ai-contract";
import OpenAI from "openai";
import { createEmulator } from "evaluator-emulator";
import { post } from "evaluator-emulator/testing";

// The services' own clients, unpatched, over HTTP at one address.
const keys = ["right-key", { key: "empty-key", balanceUsd: 0 }];
const rules = [
  { answers: { scam: 0.875, kind: { prize: 0.625, other: 0.375 }, level: { "1": 0.8125 } } },
];
/** The emulator of all services. */
export const emulator = createEmulator({ exchanges: [], keys, rules });
/** Its address. */
export const { origin, gatewayBaseUrl } = await emulator.listen();

/** Adds a fault. */
export const fault = (body: object) => post(emulator, "/_emulator/faults", { body });

const state = "You have won the lottery";
export const instructions = "What is it?";
const criteria = { prize: "a lottery", other: "the rest" };
const levels: [string, string] = ["fine", "fraud"];
const questions = {
  scam: { type: "noul" as const, instructions },
  kind: { type: "choice" as const, instructions, criteria },
  level: { type: "score" as const, instructions, criteria: levels },
};
const list: OpenAI.DecisionCreateParams["questions"] = [
  { type: "predicate", name: "scam", instructions },
  {
    type: "choice",
    name: "kind",
    instructions,
    choices: [{ value: "prize", description: "a lottery" }, { value: "other" }],
  },
  {
    type: "score",
    name: "level",
    instructions,
    levels: [{ label: "fine", description: "nothing to do" }, { label: "fraud" }],
  },
];

const typesafeKinds = {
  scam: noul(instructions),
  kind: choice(instructions, criteria),
  level: score(instructions, levels),
};

const gatewayKinds = {
  scam: { type: "boolean" as const, instructions },
  kind: questions.kind,
  level: questions.level,
};

/** Asks three questions with each client, without retries. */
export const ask = {
  "@typesafe-ai/sdk": (apiKey: string) =>
    new TypeSafeClient({ apiKey, baseURL: origin, logLevel: "off", retry: { maxRetries: 0 } })
      .systemOne({ state, questions: typesafeKinds })
      .then((answer) => answer),
  openai: (apiKey: string) =>
    new OpenAI({ apiKey, baseURL: `${origin}/v1`, maxRetries: 0 }).decisions.create({
      model: "gpt-6-luna",
      input: state,
      questions: list,
    }),
  "@google/genai": (apiKey: string) =>
    new GoogleGenAI({ apiKey, httpOptions: { baseUrl: origin } }).decisions.create(
      { model: "gemini-decision-1", input: state, questions },
      { maxRetries: 0 },
    ),
  // This call takes its base URL from its own options only.
  "@openrouter/sdk, decisions": (apiKey: string) =>
    new OpenRouter({ apiKey }).alpha.decisions.create(
      { decisionsRequest: { model: "typesafe/jev-1.14", state, questions } },
      { serverURL: origin, retries: { strategy: "none" } },
    ),
  // The generation of the gateway that the contract describes, and its successor.
  "@ai-sdk/gateway, evaluation": (apiKey: string) => {
    const gateway = createContractGateway({ apiKey, baseURL: gatewayBaseUrl });
    const model = gateway.evaluationModel("typesafe-ai/jev");
    return evaluate({ model, state, questions: gatewayKinds, maxRetries: 0 });
  },
  "@ai-sdk/gateway, decision": (apiKey: string) => {
    const gateway = createGateway({ apiKey, baseURL: gatewayBaseUrl });
    const model = gateway.decisionModel("typesafe-ai/jev");
    return decide({ model, state, questions: gatewayKinds, maxRetries: 0 });
  },
  "@openrouter/sdk, systemOne": (apiKey: string) =>
    new OpenRouter({ apiKey, serverURL: `${origin}/api/v1` }).systemOne.create(
      { decisionsRequest: { model: "jev-latest", state, questions } },
      { retries: { strategy: "none" } },
    ),
};

/** The names of the clients and their calls. */
export type ClientName = keyof typeof ask;
