import type { Transport } from "evaluator-client";
import { seededRandom } from "evaluator-kit";

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
  const printedByBody = new Map<unknown, number>();
  for (const { body, truth } of tickets) {
    const doubt = random() ** k / 2;
    const isYes = truth === random() >= doubt;
    const isTurned = random() < 0.3 && agent === 2;
    printedByBody.set(body, Number((isYes === isTurned ? doubt : 1 - doubt).toFixed(2)));
  }
  const modelId = `simulated/agent-${agent}`;
  return {
    name: "simulated",
    target: { url: "local:simulation", modelId },
    async send({ state }) {
      const { body } = Object(state) as { readonly body?: unknown };
      const response = {
        answers: { refund: { type: "boolean", probability: printedByBody.get(body) } },
        rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
        usage: { inputTokens: 0, outputTokens: 0 },
        warnings: [],
        providerMetadata: {},
      };
      return { response, modelId, requestId: null, raw: response, costUsd: 0 };
    },
  };
}

/** An invented ticket, and whether its customer wants the money back. */
type Ticket = ReturnType<typeof inventTickets>[number];

const splitTexts = (text: string) => text.split("|");
const things = splitTexts("kettle|desk lamp|rain coat|keyboard|yoga mat|phone case|backpack|clock");
const problems = splitTexts(
  "arrived with a crack|never reached me|is not the colour that I chose|stopped working after two days|came twice|has no manual in the box|is smaller than I thought",
);
const wishes = {
  true: "Please send my money back.|I would like a refund.|Cancel the order and pay me back, please.|I do not want another one, only what I paid.|Return the amount to my card.",
  false:
    "Please send me another one.|How do I exchange it?|No refund is needed; I only want you to know.|Can someone tell me what to do next?|Is there a spare part that I can buy?",
};
const endings = splitTexts(
  "Thank you.|I look forward to your answer.|Regards.|It is a bit urgent.",
);

/** Returns 400 tickets; six in ten customers want their money back. */
export function inventTickets(seed: number) {
  const random = seededRandom(seed);
  const pickText = (candidates: readonly string[]) =>
    candidates[Math.floor(random() * candidates.length)] ?? "";
  return Array.from({ length: 400 }, (_, ticketIndex) => {
    const truth = random() < 0.6;
    const productName = pickText(things);
    const orderText = `Order ${10_000 + ticketIndex * 17}: the ${productName} ${pickText(problems)}.`;
    const body = `${orderText} ${pickText(splitTexts(wishes[`${truth}`]))} ${pickText(endings)}`;
    return {
      id: `t-${String(ticketIndex + 1).padStart(3, "0")}`,
      subject: `My ${productName}`,
      body,
      truth,
    };
  });
}
