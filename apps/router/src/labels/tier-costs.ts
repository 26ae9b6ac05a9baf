import { tierNames } from "../decision/tier-question.ts";
import { readPriceList } from "../reply/price-list.ts";
import { costOf, estimateTokens, noUsage } from "../reply/usage.ts";
import type { RouterOptions } from "../router-options.ts";
import type { Services } from "../services/connect-services.ts";
import type { Label } from "./read-labels.ts";

/** Tokens of a reply, for costs at list prices. */
const REPLY_TOKENS = 300;

/** Returns the costs of the tiers at list prices, for labels without costs, and the prices. */
export async function tierCosts(
  { catalog }: Pick<Services, "catalog">,
  tierModels: RouterOptions["tierModels"],
  signal: AbortSignal,
) {
  const list = catalog && (await readPriceList(catalog, signal).catch(() => null));
  const prices = tierNames.flatMap((tier) => list?.get(tierModels[tier]) ?? []);
  if (prices.length < tierNames.length) {
    const basis = "the tiers' places, 0 to 3, as no prices are known";
    return { of: () => [0, 1, 2, 3], basis, prices: null };
  }
  return {
    of: (messages: Label["messages"]): number[] => {
      const input = estimateTokens(messages.reduce((sum, { content }) => sum + content.length, 0));
      const usage = { ...noUsage, input, output: REPLY_TOKENS };
      return prices.map((price) => costOf(usage, price) ?? 0);
    },
    basis: `US dollars at the tiers' list prices, for replies of ${REPLY_TOKENS} tokens`,
    prices,
  };
}
