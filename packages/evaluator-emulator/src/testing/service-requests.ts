import { createEmulator, type EmulatorOptions } from "../create-emulator.ts";
import { post } from "./requests.ts";

/** Returns an emulator whose rules answer {@link services}. */
export const emulatorWith = (options: EmulatorOptions = {}) =>
  createEmulator({ exchanges: [], rules, ...options });

const rules = [
  { answers: { scam: 0.875, kind: { prize: 0.625, other: 0.375 }, level: { "1": 0.8125 } } },
];
export const state = "You have won the lottery";
export const instructions = "What is it?";
export const kind = {
  type: "choice",
  instructions,
  criteria: { prize: "a lottery", other: "the rest" },
};
export const level = { type: "score", instructions, criteria: ["fine", "fraud"] };
export const scam = { type: "noul", instructions };
const questions = { scam, kind, level };
export const list = [
  { type: "predicate", name: "scam", instructions },
  {
    type: "choice",
    name: "kind",
    instructions,
    choices: [{ value: "prize", description: "a lottery" }, { value: "other" }],
  },
  { type: "score", name: "level", instructions, levels: [{ label: "fine" }, { label: "fraud" }] },
];

const cloudflarePath = "/client/v4/accounts/an-account/ai/run/@cf/cloudflare/clef-flash";
export const geminiKey = { "x-goog-api-key": "a-key" };
/** One request to each service. */
export const services = {
  openai: { path: "/v1/decisions", body: { model: "gpt-6-luna", input: state, questions: list } },
  gemini: {
    path: "/v1/decisions",
    headers: geminiKey,
    body: { model: "gemini-decision-1", input: state, questions },
  },
  openrouter: {
    path: "/api/alpha/decisions",
    body: { model: "typesafe/jev-1.14", state, questions },
  },
  perplexity: {
    path: "/v1/decisions",
    body: { model: "pplx-decider-v1.2-27b", state, questions },
  },
  cloudflare: { path: cloudflarePath, body: { model: "clef-flash", state, questions } },
  vercel: {
    path: "/typesafe/v1/systemone",
    body: { model: "typesafe-ai/jev", state, questions },
  },
  liquid: { path: "/decisions/v1/systemone", body: { model: "d1:free", state, questions } },
  fireworks: { path: "/inference/v1/systemone", body: { model: "any", state, questions } },
  "fireworks, other route": {
    path: "/inference/v1/decisions",
    body: { model: "any", input: state, questions: list },
  },
} as const;
export type ServiceName = keyof typeof services;
export const names = Object.keys(services) as ServiceName[];

/** Sends the request of a service, with other fields if some are given. */
export function ask(name: ServiceName, options: EmulatorOptions = {}, fields: object = {}) {
  const { path, body, ...rest } = services[name];
  return post(emulatorWith(options), path, { ...rest, body: { ...body, ...fields } });
}
