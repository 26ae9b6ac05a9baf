import { estimateTextTokens } from "evaluator-client";

/** Tokens of one reply; null if unknown. Reasoning tokens are part of the output. */
export interface TokenUsage {
  /** Input that no cache had. */
  readonly input: number | null;
  readonly cacheRead: number | null;
  readonly cacheWrite: number | null;
  readonly output: number | null;
  readonly reasoning: number | null;
  /** The part of the cache's writes that is kept for an hour. */
  readonly longCacheWrite?: number;
  /** Searches of a hosted tool. */
  readonly searches?: number;
  /** Whether a search has another price than the published one. */
  readonly isOwnSearch?: boolean;
  /** Calls of other hosted tools, such as `{ "code_interpreter": 1 }`. */
  readonly calls?: Readonly<Record<string, number>>;
  /** Modes with another price, such as `priority`, `flex`, `fast` or `audio`. */
  readonly modes?: readonly string[];
  /** The cost in US dollars by the service itself. */
  readonly billedUsd?: number;
  /** Whether the counts contradict each other. */
  readonly isDoubtful?: boolean;
}

/** A model's prices, named as the catalog and `/tiers` name them. Without one for reads of a cache, the input price holds. */
export interface ModelPrice {
  readonly inputUsdPerMillionTokens: number;
  readonly outputUsdPerMillionTokens: number;
  readonly cacheReadUsdPerMillionTokens?: number | null;
  /** @default {@link CACHE_WRITE_FACTOR} times the input's */
  readonly cacheWriteUsdPerMillionTokens?: number | null;
  /** For an hour. @default twice the input's */
  readonly longCacheWriteUsdPerMillionTokens?: number | null;
  /** The price of all tokens from an input of so many tokens on, in rising order. */
  readonly fromInputTokens?: readonly PriceStep[];
  /** Factors of modes, such as `{ "priority": 2 }`. */
  readonly modes?: Readonly<Record<string, number>>;
  /** A call of a hosted search. @default 0.01 */
  readonly usdPerSearch?: number;
  /** A call of each other hosted tool; without one, the cost is unknown. */
  readonly usdPerCall?: Readonly<Record<string, number>>;
  /** The most tokens of a document, image or recording, for budgets. */
  readonly tokensPerFile?: number;
}

/** Prices from an input of so many tokens on. */
export interface PriceStep extends Partial<TokenPrices> {
  readonly inputTokens: number;
}

type TokenPrices = Pick<
  ModelPrice,
  | "inputUsdPerMillionTokens"
  | "outputUsdPerMillionTokens"
  | "cacheReadUsdPerMillionTokens"
  | "cacheWriteUsdPerMillionTokens"
  | "longCacheWriteUsdPerMillionTokens"
>;

/** The tokens to pay for, of a whole reply or not. */
export interface BilledTokens {
  readonly usage: TokenUsage;
  /** Whether the service reported none, so that they are estimated from the texts. */
  readonly isEstimate: boolean;
}

/** Counts the tokens of a reply while it comes, in case it never ends. */
export interface TokenMeter {
  /** An estimate, as the text comes. */
  written: number;
  /** The tokens that the service reported last. */
  reported: TokenUsage | null;
  /** The configuration's tokens of a file at the model that is asked. */
  tokensPerFile?: number | undefined;
  /** Whether a call was sent that its service may charge for. */
  isSent?: boolean;
  /** The part of the usage that the request sets, and that no service reports. */
  askedUsage?: Partial<TokenUsage>;
}

/** Estimates the tokens of a piece of a reply, which has one at least. */
export function estimateDelta(deltaText: string): number {
  return Math.max(1, estimateTextTokens(deltaText));
}

/** Returns a meter at the start of an attempt. */
export function newMeter(): TokenMeter {
  return { written: 0, reported: null, tokensPerFile: undefined, isSent: false, askedUsage: {} };
}

/** Models of OpenAI that search for each reply. */
const searchingModels = /-search-(?:preview|api)\b/;

/** Returns the price of the search of a model that always searches, 0 for another model, and null if it is unknown. */
export function findSearchUsd(model: string, price: ModelPrice): number | null {
  return searchingModels.test(model) ? (price.usdPerSearch ?? null) : 0;
}

/** OpenAI's models that always search, their field and their tool have a price for each call, which no usage counts. */
export function listSearches(
  modelName: string,
  requestBody: Readonly<Record<string, unknown>> = {},
): Partial<TokenUsage> {
  const isSearchAsked = (requestBody["web_search_options"] ?? null) !== null;
  if (isSearchAsked || searchingModels.test(modelName)) return { searches: 1, isOwnSearch: true };
  const sentTools = Array.isArray(requestBody["tools"]) ? (requestBody["tools"] as unknown[]) : [];
  const types = sentTools.map((sentTool) => String((Object(sentTool) as { type?: unknown }).type));
  return types.some((type) => type.startsWith("web_search_preview")) ? { isOwnSearch: true } : {};
}

/** Returns all input tokens, cached or not. */
export function findInput({ input, cacheRead, cacheWrite }: TokenUsage): number | null {
  return input === null ? null : input + (cacheRead ?? 0) + (cacheWrite ?? 0);
}

/** The counts of a service that reported none. */
export const noUsage: TokenUsage = {
  input: null,
  cacheRead: null,
  cacheWrite: null,
  output: null,
  reasoning: null,
};

/** Returns a count of tokens; null if the value is none. */
export function toCount(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
}

/** Returns the counts of both usages; of two counts for one thing the greater. */
export function mergeUsage(earlierUsage: TokenUsage | null, laterUsage: TokenUsage): TokenUsage {
  if (earlierUsage === null) return laterUsage;
  const mergedUsage: Mutable<TokenUsage> = { ...earlierUsage, ...laterUsage };
  for (const countName of countNames) {
    const greaterCount = Math.max(earlierUsage[countName] ?? -1, laterUsage[countName] ?? -1);
    if (greaterCount >= 0) mergedUsage[countName] = greaterCount;
  }
  return mergedUsage;
}

/** Returns the counts of both usages; those of the second win. */
export function mergeKnown(earlierUsage: TokenUsage, otherUsage: TokenUsage): TokenUsage {
  const knownEntries = Object.entries(otherUsage).filter(([, otherCount]) => otherCount !== null);
  return { ...earlierUsage, ...Object.fromEntries(knownEntries) };
}

type Mutable<TFields> = { -readonly [TName in keyof TFields]: TFields[TName] };

const countNames = [
  "input",
  "cacheRead",
  "cacheWrite",
  "output",
  "reasoning",
  "longCacheWrite",
  "searches",
] as const;

/** Factors of modes that services publish for all of their models; another one is unknown. */
const publishedModes: Readonly<Record<string, number>> = { priority: 2, flex: 0.5, batch: 0.5 };

/** The price of a cache write, in input prices, that Anthropic publishes; no other service counts writes. */
export const CACHE_WRITE_FACTOR = 1.25;

/** The price of a search that OpenAI and Anthropic publish. */
const USD_PER_SEARCH = 0.01;

/** Returns the cost in US dollars, or null if the tokens or a part of the price are unknown. The service's own cost wins. */
export function findBilledCost(usage: TokenUsage | null, price: ModelPrice | null): number | null {
  if (usage?.billedUsd !== undefined) return usage.billedUsd;
  const tokensUsd = findCost(usage, price);
  if (usage === null || price === null || tokensUsd === null) return null;
  const { modes = [], searches = 0, calls = {} } = usage;
  const factors = modes.map((mode) => price.modes?.[mode] ?? publishedModes[mode] ?? Number.NaN);
  const allFactors = factors.reduce((product, modeFactor) => product * modeFactor, 1);
  const callFees = Object.entries(calls).map(
    ([callName, callCount]) => callCount * (price.usdPerCall?.[callName] ?? Number.NaN),
  );
  const publishedUsd = usage.isOwnSearch === true ? Number.NaN : USD_PER_SEARCH;
  const searchUsd = searches === 0 ? 0 : searches * (price.usdPerSearch ?? publishedUsd);
  const totalFees = callFees.reduce((sum, callFee) => sum + callFee, searchUsd);
  const totalUsd = tokensUsd * allFactors + totalFees;
  return Number.isNaN(totalUsd) ? null : totalUsd;
}

/** Returns the cost of the same tokens, searches and modes at another model, or null if it is unknown. */
export function costElsewhere(usage: TokenUsage | null, price: ModelPrice | null): number | null {
  if (usage === null) return null;
  const { billedUsd: _, ...ownUsage } = usage;
  return findBilledCost(ownUsage, price);
}

/** Returns the cost of tokens in US dollars at the usual price, or null if the tokens or the price are unknown. */
export function findCost(usage: TokenUsage | null, price: ModelPrice | null): number | null {
  if (usage === null || price === null) return null;
  const { input, output } = usage;
  if (input === null || output === null) return null;
  const stepPrice = priceFrom(price, findInput(usage) ?? 0);
  const perInput = stepPrice.inputUsdPerMillionTokens;
  const longWrites = Math.min(usage.longCacheWrite ?? 0, usage.cacheWrite ?? 0);
  const millionUsd =
    input * perInput +
    (usage.cacheRead ?? 0) * (stepPrice.cacheReadUsdPerMillionTokens ?? perInput) +
    ((usage.cacheWrite ?? 0) - longWrites) *
      (stepPrice.cacheWriteUsdPerMillionTokens ?? CACHE_WRITE_FACTOR * perInput) +
    longWrites * (stepPrice.longCacheWriteUsdPerMillionTokens ?? 2 * perInput) +
    output * stepPrice.outputUsdPerMillionTokens;
  return millionUsd / 1_000_000;
}

/** Returns the prices of the tokens of a call with so much input. */
export function priceFrom(price: ModelPrice, inputTokens: number): ModelPrice {
  const steps = price.fromInputTokens?.filter((each) => each.inputTokens <= inputTokens) ?? [];
  return Object.assign({}, price, ...steps) as ModelPrice;
}
