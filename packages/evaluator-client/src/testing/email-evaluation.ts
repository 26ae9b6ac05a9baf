import { boolean, choice, score } from "../questions/kinds.ts";

/** A request with one question of each type, and both services' answers to it. */
export const emailRequest = {
  state: { from: "a@example.com", subject: "Your invoice" },
  questions: {
    category: choice("What kind of email is this?", {
      receipt: "a payment receipt",
      other: "none of the above",
    }),
    importance: score("How important is it?", ["ignore: nothing to do", "high: reply within days"]),
    scam: boolean("Does it look like a scam?"),
  },
};

/** The gateway's answer to {@link emailRequest}. */
export const gatewayBody = {
  answers: {
    category: {
      type: "choice",
      choice: "receipt",
      probabilities: { receipt: 0.91, other: 0.09 },
    },
    importance: { type: "score", score: 0.35, probabilities: { "0": 0.65, "1": 0.35 } },
    scam: { type: "boolean", probability: 0.04 },
  },
  rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
  usage: { inputTokens: 336, outputTokens: 3 },
  warnings: [],
  providerMetadata: {
    typesafe: { confidence: { category: 0.82, importance: 0.4 } },
    gateway: {
      routing: {
        canonicalSlug: "typesafe-ai/jev",
        modelAttempts: [
          {
            success: true,
            providerAttempts: [
              { success: true, startTime: 1_790_000_000_000, endTime: 1_790_000_000_140 },
            ],
          },
        ],
      },
      cost: "0",
      marketCost: "0.000014112",
      generationId: "gen_1",
    },
  },
};

/** The vendor's own answer to {@link emailRequest}. */
export const directBody = {
  model: "jev-1",
  answers: {
    category: { ...gatewayBody.answers.category, confidence: 0.82 },
    importance: {
      ...gatewayBody.answers.importance,
      confidence: 0.4,
      legend: { "0": "ignore: nothing to do", "1": "high: reply within days" },
    },
    scam: { type: "noul", noul: 0.04 },
  },
  usage: { input_tokens: 336, output_tokens: 3 },
};
