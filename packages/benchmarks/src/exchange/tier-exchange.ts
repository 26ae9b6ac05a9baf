import type { Questions } from "evaluator-client";

/** The router's question (contract section 4.6), as far as its answer depends on it. */
export const tierQuestions: Questions = {
  tier: {
    type: "choice",
    instructions: "Which model tier is the cheapest one that can answer the message well?",
    criteria: {
      nano: "greeting, small talk, one-line fact, trivial request",
      fast: "simple question or short task with a clear answer, no deep reasoning",
      balanced: "needs real reasoning, planning, careful explanation, or writing code",
      frontier: "large multi-step or high-stakes work where a wrong answer is costly",
    },
  },
};

/** The text that every reply of the canned text model consists of. */
export const replyText = "Hello! How can I help you today?";

/** The body of a text model's whole reply (field facts: language model specification v4). */
export const replyBody = {
  content: [{ type: "text", text: replyText }],
  finishReason: { unified: "stop", raw: "stop" },
  usage: {
    inputTokens: { total: 12, noCache: 12, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 9, text: 9, reasoning: 0 },
  },
  warnings: [],
};
