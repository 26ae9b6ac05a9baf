import { estimateTextTokens } from "evaluator-client";
import { findPrice } from "../decision/replies.ts";
import { type Tier, tierNames } from "../decision/tier-question.ts";
import type { RouterOptions } from "../router-options.ts";
import { type Label, toText } from "./read-labels.ts";
import { readPriceList } from "../refresh-prices.ts";
import { findCost, noUsage } from "../reply/usage.ts";
import type { Services } from "../services/connect-services.ts";

/** Quality, 0..1, and cost. */
type Point = Readonly<Record<"quality" | "cost", number>>;

/** A labelled prompt with the quality and cost of each tier. */
export type LabelledPrompt = ReturnType<typeof toTierPoints>[number];

/** Judges every tier for each label; `costsOf` are the tiers' costs, if the file has none. */
export function toTierPoints(
  labels: readonly Label[],
  tierModels: RouterOptions["tierModels"],
  costsOf: (messages: Label["messages"]) => readonly number[],
) {
  const rankedModels = rankModels(labels);
  const seenKeys = new Set<string>();
  const labelPoints = labels.map(({ messages, tier, scores, costs, category, probabilities }) => {
    const messagesKey = JSON.stringify(messages);
    const isRepeat = messages.length > 0 && seenKeys.has(messagesKey);
    seenKeys.add(messagesKey);
    const scoredModels = rankedModels.filter((modelName) => Object.hasOwn(scores ?? {}, modelName));
    const modelNames = modelsOfTiers(scoredModels, tierModels);
    const lowestTier = tierNames.indexOf(tier ?? "frontier");
    const qualities = modelNames.map((modelName, tierIndex) =>
      scores === null ? Number(tierIndex >= lowestTier) : (scores[modelName] ?? 0),
    );
    const cost = costs === null ? costsOf(messages) : modelNames.map((model) => costs[model] ?? 0);
    const entries = tierNames.map((name, at) => [name, { quality: qualities[at], cost: cost[at] }]);
    const characters = messages.reduce((sum, { content }) => sum + content.length, 0);
    return {
      tiers: Object.fromEntries(entries) as Record<Tier, Point>,
      /** The lowest tier with the best quality. */
      rightTier: tier ?? tierNames[qualities.indexOf(Math.max(...qualities))] ?? "frontier",
      /** The text that decides; empty if it is unknown. */
      text: toText(messages),
      /** Characters of the conversation; null if the text is unknown. */
      length: messages.length === 0 ? null : characters,
      category,
      /** How many models have scores; null if the label is a tier. */
      models: scores && scoredModels.length,
      /** The evaluation model's. */
      probabilities,
      /** Whether an earlier prompt has the same text. */
      isRepeat,
    };
  });
  const meanCosts = tierPoints(labelPoints).map(({ cost }) => cost);
  const cheapest = tierNames[meanCosts.indexOf(Math.min(...meanCosts))] ?? "nano"; // the first of equals
  return labelPoints.map((point) =>
    Object.assign(point, { cheapest, cheap: point.tiers[cheapest], dear: point.tiers.frontier }),
  );
}

/** Returns the quality that the dear tier adds. */
export function computeGap({ cheap, dear }: Pick<LabelledPrompt, "cheap" | "dear">): number {
  return dear.quality - cheap.quality;
}

/** Returns the point of each tier if it answers all prompts. */
export function tierPoints(prompts: readonly { readonly tiers: Readonly<Record<Tier, Point>> }[]) {
  return tierNames.map((tier) => toPoint(prompts.map(({ tiers }) => tiers[tier])));
}

/** Returns the mean quality and cost. */
export function toPoint(points: readonly Point[]): Point {
  return {
    quality: computeMean(points.map(({ quality }) => quality)),
    cost: computeMean(points.map(({ cost }) => cost)),
  };
}

/** Returns the mean; 0 of none. */
export function computeMean(numbers: readonly number[]): number {
  return numbers.length === 0 ? 0 : numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
}

/**
 * Orders all scored models by their mean cost; without costs, by their first use. There is one order
 * for the whole file: a prompt with a higher cost at the cheaper model must not swap the two.
 */
function rankModels(labels: readonly Label[]): string[] {
  const scoredItems = labels.flatMap(({ scores, costs }) =>
    Object.keys(scores ?? {}).map((model) => ({ model, cost: costs?.[model] ?? 0 })),
  );
  const modelMeans = [...Map.groupBy(scoredItems, ({ model }) => model)].map(([model, all]) => {
    return { model, mean: all.reduce((costTotal, { cost }) => costTotal + cost, 0) / all.length };
  });
  return modelMeans.toSorted((one, other) => one.mean - other.mean).map(({ model }) => model);
}

/** The tiers' own names or models if all are scored, else the scored models spread over the tiers. */
function modelsOfTiers(scoredModels: readonly string[], tierModels: RouterOptions["tierModels"]) {
  const ownModels = tierNames.map((tier) =>
    [tier, tierModels[tier]].find((modelName) => scoredModels.includes(modelName)),
  );
  if (ownModels.every((modelName) => modelName !== undefined)) return ownModels;
  const modelStep = (scoredModels.length - 1) / (tierNames.length - 1);
  return tierNames.map((_, tierIndex) => scoredModels[Math.round(tierIndex * modelStep)] ?? "");
}

/** Tokens of a reply, for costs at list prices. */
const REPLY_TOKENS = 300;

/** Returns the costs of the tiers at list prices, for labels without costs, and the prices. */
export async function tierCosts(
  { replies: { catalogs, current } }: Pick<Services, "replies">,
  signal: AbortSignal,
) {
  const [catalog] = catalogs;
  const priceList = catalog && (await readPriceList(catalog, signal).catch(() => null));
  const firstTargets = tierNames.map((tier) => current.tiers[tier].targets[0]);
  const prices = firstTargets.flatMap((target) => findPrice(target, priceList ?? new Map()) ?? []);
  if (prices.length < tierNames.length) {
    const basis = "the tiers' places, 0 to 3, as no prices are known";
    return { of: () => [0, 1, 2, 3], basis, prices: null };
  }
  return {
    of: (messages: Label["messages"]): number[] => {
      const input = estimateTextTokens(messages.map(({ content }) => content).join("\n"));
      const usage = { ...noUsage, input, output: REPLY_TOKENS };
      return prices.map((modelPrice) => findCost(usage, modelPrice) ?? 0);
    },
    basis: `US dollars at the tiers' list prices, for replies of ${REPLY_TOKENS} tokens`,
    prices,
  };
}
