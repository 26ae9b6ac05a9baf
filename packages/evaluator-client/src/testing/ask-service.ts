import { createEvaluator } from "../create-evaluator.ts";
import type { EvaluatorError } from "../errors.ts";
import { boolean, choice, type Questions, score } from "../questions/kinds.ts";
import type { State } from "../questions/state.ts";
import {
  directTransport,
  type DirectTransportOptions,
} from "../transports/direct/direct-transport.ts";
import { type ServiceName, serviceRows } from "../transports/direct/services.ts";
import { serviceFixtures } from "./service-fixtures.ts";

/** A question of each kind. */
export const questions = {
  kind: choice("Which?", { receipt: "a receipt", other: "another" }),
  level: score("How much?", ["low", "high"]),
  scam: boolean("Is it?"),
};

/** Their answers by id. */
export const answers = {
  kind: { type: "choice", choice: "receipt", probabilities: { receipt: 0.75, other: 0.25 } },
  level: { type: "score", score: 0.5, probabilities: { 0: 0.5, 1: 0.5 } },
  scam: { type: "noul", noul: 0.25 },
};
const named = { ...answers, kind: { ...answers.kind, confidence: 0.6 } };
const list = [
  {
    type: "choice",
    name: "kind",
    choice: "receipt",
    confidence: 0.6,
    probabilities: [
      { value: "receipt", probability: 0.75 },
      { value: "other", probability: 0.25 },
    ],
  },
  {
    type: "score",
    name: "level",
    score: 0.5,
    probabilities: [
      { value: 0, label: "low", probability: 0.5 },
      { value: 1, label: "high", probability: 0.5 },
    ],
  },
  { type: "predicate", name: "scam", probability: 0.25 },
];
const usage = { input_tokens: 1000, output_tokens: 0 };
/** A reply in each form. */
export const ofWire = {
  systemone: { model: "m", answers: named, usage },
  decisions: { model: "m", answers: list, usage },
  gemini: { answers: named, usage: { total_input_tokens: 1000, total_output_tokens: 0 } },
};

/** As each service answers. */
export function replyOf(service: ServiceName, changed: object = {}): object {
  const { fields, toReply = (body: object) => body } = serviceFixtures[service];
  return toReply({ ...ofWire[serviceRows[service].wire], ...fields, ...changed });
}

/** Asks a service that answers with this body; returns what was sent, and the evaluation or error. */
export async function askService(
  service: ServiceName,
  answered: { body?: unknown; status?: number; headers?: Record<string, string> },
  {
    asked = questions,
    state = "a letter",
    ...options
  }: { asked?: Questions; state?: State } & DirectTransportOptions = {},
) {
  const sent: { url: string; headers: Headers; body: unknown }[] = [];
  const { body = replyOf(service), status = 200, headers = {} } = answered;
  const fetch = async (url: string, init: RequestInit) => {
    sent.push({ url, headers: new Headers(init.headers), body: JSON.parse(init.body as string) });
    return typeof body === "string"
      ? new Response(body, { status, headers })
      : Response.json(body, { status, headers });
  };
  const own = { apiKey: "a-secret-key", accountId: "an-account", env: { EVALUATOR_MODEL_ID: "" } };
  const model = serviceRows[service].model ?? "a-model";
  const transport = directTransport({ ...own, service, model, fetch, ...options });
  const evaluation = createEvaluator({ transport, maxRetries: 0 }).evaluate({
    state,
    questions: asked,
  });
  return evaluation.then(
    (value) => ({ sent, evaluation: value, error: null }),
    (reason: EvaluatorError) => ({ sent, evaluation: null, error: reason }),
  );
}
