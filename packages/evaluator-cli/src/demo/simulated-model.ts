import type { Transport } from "evaluator-client";
import { seededRandom } from "evaluator-kit";
import type { Ticket } from "./invented-tickets.ts";

/**
 * Returns a transport to no model: it knows the truth of the tickets, and draws how much of it each answer
 * shows. An answer is wrong with the chance u^k / 2 for a uniform u, and agent-1 prints that chance, so it is
 * calibrated; k is such that the expected Brier skill is `skill`, 0..1. agent-2 turns three in ten answers
 * around, and is as sure of them.
 */
export function simulatedTransport(
  tickets: readonly Ticket[],
  { skill, seed, agent }: { readonly skill: number; readonly seed: number; readonly agent: 1 | 2 },
): Transport {
  // The solution of skill = 1 − 2 / (k + 1) + 1 / (2k + 1).
  const k = (3 * skill + Math.sqrt(9 * skill ** 2 + 8 * skill * (1 - skill))) / (4 - 4 * skill);
  const random = seededRandom(~seed); // not the draws of the tickets
  const printed = new Map<unknown, number>();
  for (const { body, truth } of tickets) {
    const doubt = random() ** k / 2;
    const isYes = truth === random() >= doubt;
    const isTurned = random() < 0.3 && agent === 2;
    printed.set(body, Number((isYes === isTurned ? doubt : 1 - doubt).toFixed(2)));
  }
  const modelId = `simulated/agent-${agent}`;
  return {
    name: "simulated",
    target: { url: "local:simulation", modelId },
    async send({ state }) {
      const { body } = Object(state) as { readonly body?: unknown };
      const response = {
        answers: { refund: { type: "boolean", probability: printed.get(body) } },
        rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
        usage: { inputTokens: 0, outputTokens: 0 },
        warnings: [],
        providerMetadata: {},
      };
      return { response, modelId, requestId: null, raw: response, costUsd: 0 };
    },
  };
}
