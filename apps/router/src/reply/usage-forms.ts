import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import { isRecord } from "evaluator-kit";
import type { ClientApiType } from "../conversation/upstream-types.ts";
import table from "./usage-places.json" with { type: "json" };
import { mergeUsage, toCount, type TokenMeter, type TokenUsage } from "./usage.ts";

/** An amount in a service's usage; `ownCost` is the cost with the caller's key at the service. */
type Amount =
  | Exclude<keyof TokenUsage, "modes" | "calls" | "billedUsd" | "isDoubtful">
  | "total"
  | "audio"
  | "cost"
  | "costTicks"
  | "ownCost";

type Amounts = Readonly<Record<Amount, number | null>>;

/** The keys that lead to a value in an event; every event of a reply is searched for some. */
type Place = readonly string[];

const toPlace = (dottedPath: string): Place => dottedPath.split(".");

/** The places of each amount; of several values the greatest is meant. */
const placesByAmount = new Map<string, Place[]>();
for (const countPlaces of Object.values(table.counts satisfies Record<ClientApiType, object>)) {
  for (const [name, ownPlaces] of Object.entries(countPlaces)) {
    placesByAmount.set(name, [...(placesByAmount.get(name) ?? []), ...ownPlaces.map(toPlace)]);
  }
}

/** One of these is in each usage. */
const mainPlaces = ["input", "output", "cacheRead", "cacheWrite"].flatMap(
  (amountName) => placesByAmount.get(amountName) ?? [],
);

/** The places of a usage in a body, a chunk or an event. */
const usagePlaces = Object.values(table.usages).map(toPlace);

/** In the JSON of a chunk or an event with a usage. */
export const mayHaveUsage = /"usage"\s*:\s*\{/;

/** Reads the usage in a service's body, chunk or event, of whichever API; null if it has none. */
function readUsage(event: unknown): TokenUsage | null {
  const foundUsages = usagePlaces.map((usagePlace) => valueAt(event, usagePlace)).filter(isRecord);
  const countedUsages = foundUsages.filter((usage) => greatest(usage, mainPlaces) !== null);
  if (countedUsages.length === 0) return null;
  const servedTiers = modePlaces.map((modePlace) => valueAt(event, modePlace));
  // Groq's flex has the usual price.
  const isGroq = valueAt(event, ["x_groq"]) !== undefined;
  const otherFields = {
    tiers: isGroq ? servedTiers.filter((servedTier) => servedTier !== "flex") : servedTiers,
    hosted: hostedIn(valueAt(event, ["output"]) ?? valueAt(event, ["response", "output"])),
  };
  return countedUsages
    .map((countedUsage) => listCounts(countedUsage, otherFields))
    .reduce<TokenUsage | null>(mergeUsage, null);
}

/** Adds the usage in a service's body, chunk or event, if it has one. */
export function addUsage(meter: TokenMeter, event: unknown): void {
  const usage = readUsage(event);
  if (usage !== null) meter.reported = mergeUsage(meter.reported, usage);
}

/** Returns the counts of an unchecked usage in the form of the `ai` package, whose gateway may report the cost. */
export function toTokenUsage(usage: unknown, gatewayCost?: unknown): TokenUsage {
  const { raw } = (usage ?? {}) as Partial<LanguageModelV4Usage>;
  const tokenUsage = (isRecord(raw) ? readUsage({ usage: raw }) : null) ?? countsOfParts(usage);
  const isCost = gatewayCost !== undefined && gatewayCost !== null && gatewayCost !== "";
  const billedUsd = isCost ? toCount(Number(gatewayCost)) : null;
  return billedUsd === null ? tokenUsage : { ...tokenUsage, billedUsd };
}

function countsOfParts(usage: unknown): TokenUsage {
  const { inputTokens, outputTokens } = (usage ?? {}) as Partial<LanguageModelV4Usage>;
  const cacheRead = toCount(inputTokens?.cacheRead);
  const cacheWrite = toCount(inputTokens?.cacheWrite);
  const total = toCount(inputTokens?.total);
  const uncachedTokens = total && Math.max(0, total - (cacheRead ?? 0) - (cacheWrite ?? 0));
  return {
    input: toCount(inputTokens?.noCache) ?? uncachedTokens,
    cacheRead,
    cacheWrite,
    output: toCount(outputTokens?.total),
    reasoning: toCount(outputTokens?.reasoning),
  };
}

interface Besides {
  /** The service tiers outside of the usage. */
  readonly tiers: readonly unknown[];
  readonly hosted: Pick<TokenUsage, "searches" | "calls">;
}

function listCounts(
  usage: Record<string, unknown>,
  { tiers, hosted: hostedTokenUsage }: Besides,
): TokenUsage {
  const amounts = {} as Record<Amount, number | null>;
  for (const [name, at] of placesByAmount) amounts[name as Amount] = greatest(usage, at);
  const { input, cacheRead, longCacheWrite, reasoning } = amounts;
  const cacheWrite = longCacheWrite
    ? Math.max(longCacheWrite, amounts.cacheWrite ?? 0)
    : amounts.cacheWrite;
  // Anthropic's count of input excludes the cache; a gateway in OpenAI's form may have both names.
  const isAnthropic = !("prompt_tokens" in usage) && excludedNames.some((name) => name in usage);
  const cachedTokens = isAnthropic ? 0 : (cacheRead ?? 0) + (cacheWrite ?? 0);
  // Some gateways keep Anthropic's way of counting under OpenAI's names.
  const isOver = cachedTokens > (input ?? cachedTokens);
  const isExcluded = isAnthropic || isOver;
  const { output, isDoubtful } = toOutput(isExcluded ? { ...amounts, total: null } : amounts);
  const searches = Math.max(hostedTokenUsage.searches ?? 0, amounts.searches ?? 0);
  const modes = listModes(usage, tiers, (amounts.audio ?? 0) > 0);
  const billedUsd = costIn(usage, amounts);
  return {
    input: input && (isExcluded ? input : input - cachedTokens),
    cacheRead,
    cacheWrite,
    output,
    reasoning,
    ...(longCacheWrite && { longCacheWrite }),
    ...(searches > 0 && { searches }),
    ...(hostedTokenUsage.calls && { calls: hostedTokenUsage.calls }),
    ...(billedUsd !== null && { billedUsd }),
    ...(modes.length > 0 && { modes }),
    ...((isDoubtful || isOver) && { isDoubtful: true }),
  };
}

/** xAI's unit of a cost. */
const TICKS_PER_USD = 1e10;

/** Returns the cost by the service itself; null if it reports none. */
function costIn(usage: object, { cost, costTicks, ownCost }: Amounts): number | null {
  if (cost === null) return costTicks && costTicks / TICKS_PER_USD;
  return cost + (valueAt(usage, ["is_byok"]) === true ? (ownCost ?? 0) : 0);
}

/** Anthropic's priority is a contract, whose price is not that of OpenAI's. */
const anthropicModes: Readonly<Record<string, string>> = { priority: "anthropic-priority" };

function listModes(usage: object, tiers: readonly unknown[], hasAudio: boolean): string[] {
  const servedTier = valueAt(usage, ["service_tier"]);
  const ownMode = anthropicModes[String(servedTier)] ?? servedTier;
  const allModes = [...tiers, ownMode, valueAt(usage, ["speed"]), hasAudio && "audio"];
  return [...new Set(allModes.filter(isDearOrCheap))];
}

const excludedNames = ["cache_read_input_tokens", "cache_creation_input_tokens"];

const modePlaces = ["service_tier", "response.service_tier"].map(toPlace);

/** The names of the usual price. */
const standardModes = new Set(["auto", "default", "standard", "standard_only", "on_demand"]);

function isDearOrCheap(mode: unknown): mode is string {
  return typeof mode === "string" && mode !== "" && !standardModes.has(mode);
}

/** Reasoning is part of the output, beside it, or only in the total. */
function toOutput({ input, output, total, reasoning }: Amounts) {
  if (output === null) return { output, isDoubtful: false };
  const otherTokens = total === null || input === null ? 0 : Math.max(0, total - input - output);
  const reasoningTokens = reasoning ?? 0;
  if (otherTokens > 0) {
    return {
      output: output + otherTokens,
      isDoubtful: reasoning !== null && reasoningTokens > output + otherTokens,
    };
  }
  const isSeparate = reasoningTokens > output;
  return { output: isSeparate ? output + reasoningTokens : output, isDoubtful: isSeparate };
}

/** The calls of OpenAI's hosted tools with a price each, but the search. */
const pricedCalls = /^(file_search|code_interpreter|image_generation)_call$/;

/** Counts the calls of hosted tools in the output of a response. Opening a page that was found is free. */
function hostedIn(output: unknown): Besides["hosted"] {
  let searches = 0;
  const calls: Record<string, number> = {};
  for (const outputItem of Array.isArray(output) ? (output as unknown[]) : []) {
    const itemType = valueAt(outputItem, ["type"]);
    const callType = typeof itemType === "string" ? itemType : "";
    const searchAction = valueAt(outputItem, ["action", "type"]) ?? "search";
    if (callType === "web_search_call" && searchAction === "search") searches += 1;
    const callName = pricedCalls.exec(callType)?.[1];
    if (callName !== undefined) calls[callName] = (calls[callName] ?? 0) + 1;
  }
  return { searches, ...(Object.keys(calls).length > 0 && { calls }) };
}

function greatest(usage: object, countPlaces: readonly Place[]): number | null {
  let most = -1;
  for (const place of countPlaces) most = Math.max(most, toCount(valueAt(usage, place)) ?? -1);
  return most < 0 ? null : most;
}

function valueAt(container: unknown, valuePlace: Place): unknown {
  let innerValue = container;
  for (const key of valuePlace) innerValue = (Object(innerValue) as Record<string, unknown>)[key];
  return innerValue;
}
