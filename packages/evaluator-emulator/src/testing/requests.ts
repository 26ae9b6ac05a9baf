import type { Emulator } from "../serve.ts";

/** The six headers of contract section 4.1, for tests. */
export const evaluationHeaders = {
  authorization: "Bearer local-key",
  "ai-model-id": "typesafe-ai/jev",
  "ai-evaluation-model-specification-version": "4",
  "ai-gateway-protocol-version": "0.0.1",
  "ai-gateway-auth-method": "api-key",
  "content-type": "application/json",
} as const;

/** A request any side can answer once its wire names are right. */
export const spamQuestion = {
  state: "hello",
  questions: { spam: { type: "boolean", instructions: "Is it spam?" } },
};

/** Returns the headers without one of them. */
export function without(headers: Record<string, string>, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));
}

/** Posts a JSON body and gives status, headers and the parsed body. */
export async function post(
  emulator: Emulator,
  path: string,
  { headers = {}, body }: { headers?: Record<string, string>; body: unknown },
) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await emulator.fetch(path, { method: "POST", headers, body: text });
  const json: unknown = await response.json();
  return { status: response.status, headers: response.headers, json };
}

/** Posts an evaluation to the gateway, as the contract says. */
export function postEvaluation(
  emulator: Emulator,
  body: unknown = spamQuestion,
  headers: Record<string, string> = {},
) {
  return post(emulator, "/v4/ai/evaluation-model", {
    headers: { ...evaluationHeaders, ...headers },
    body,
  });
}

/** Posts an evaluation to the vendor. */
export function postSystemOne(
  emulator: Emulator,
  body: unknown,
  headers: Record<string, string> = {},
) {
  return post(emulator, "/direct/v1/systemone", { headers, body });
}

/** One question of each type, as every generation of the `ai` package asks it. */
export const threeQuestions = {
  tier: {
    type: "choice",
    instructions: "Which tier?",
    criteria: { nano: "greeting", balanced: "writing code" },
  },
  urgency: { type: "score", instructions: "How urgent?", criteria: ["not urgent", "emergency"] },
  scam: { type: "boolean", instructions: "Is it a scam?" },
} as const;
