import { boolean, choice, score } from "evaluator-client";
import { testRouter } from "./test-router.ts";

/** The text of each question. */
export const instructions = "What is it?";
const criteria = { prize: "a lottery", other: "the rest" };
const levels = ["fine", "fraud"] as const;
/** A state; no error and no record may quote it. */
export const state = "You have won the lottery";
/** A question of the vendor's form. */
export const noul = { type: "noul", instructions };
/** A question of OpenAI's form. */
export const predicate = { type: "predicate", name: "scam", instructions };
/** A question of each kind in the vendor's form. */
export const map = {
  scam: noul,
  kind: { type: "choice", instructions, criteria },
  level: { type: "score", instructions, criteria: levels },
};
/** The same questions in the contract's form. */
export const asked = {
  scam: boolean(instructions),
  kind: choice(instructions, criteria),
  level: score(instructions, levels),
};

type Router = Awaited<ReturnType<typeof testRouter>>;

/** Posts a body, and returns what came back. */
export async function post({ request }: Pick<Router, "request">, path: string, body: unknown) {
  const headers = { "content-type": "application/json" };
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await request(path, { method: "POST", body: text, headers });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** The answer of a gateway to a question of each kind. */
export const gatewayAnswer = (differences: object = {}) => ({
  answers: {
    scam: { type: "boolean", probability: 0.25 },
    kind: { type: "choice", choice: "prize", probabilities: { prize: 0.7, other: 0.3 } },
    level: { type: "score", score: 0.9, probabilities: { "0": 0.1, "1": 0.9 } },
  },
  rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
  usage: { inputTokens: 50, outputTokens: 5 },
  warnings: [],
  providerMetadata: {
    typesafe: { confidence: { kind: 0.2, level: 0.5 } },
    gateway: { marketCost: "0.0000021", routing: { canonicalSlug: "typesafe-ai/jev" } },
  },
  ...differences,
});

/** Returns a router whose gateway answers so. */
export const answering = (differences?: object) =>
  testRouter({ evaluation: () => Response.json(gatewayAnswer(differences)) });
