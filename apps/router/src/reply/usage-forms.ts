import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import { isRecord } from "evaluator-kit";
import table from "./usage-places.json" with { type: "json" };
import { mergeUsage, toCount, type TokenMeter, type TokenUsage } from "./usage.ts";

/** An amount in a service's usage; `ownCost` is the cost with the caller's key at the service. */
type Amount =
  | Exclude<keyof TokenUsage, "modes" | "billedUsd" | "isDoubtful">
  | "total"
  | "cost"
  | "ownCost";

type Amounts = Readonly<Record<Amount, number | null>>;

/** The places of each amount; of several values the greatest is meant. */
const places = new Map<string, string[]>();
for (const counts of Object.values(table.counts)) {
  for (const [name, own] of Object.entries(counts)) {
    places.set(name, [...(places.get(name) ?? []), ...own]);
  }
}

/** The places of a usage in a body, a chunk or an event. */
const usagePlaces = Object.values(table.usages);

/** Reads the usage in a service's body, chunk or event, of whichever API; null if it has none. */
function readUsage(event: unknown): TokenUsage | null {
  const usages = usagePlaces.map((place) => valueAt(event, place)).filter(isRecord);
  const usage = usages.find(hasCount);
  if (usage === undefined) return null;
  const names = modePlaces.map((place) => valueAt(event, place));
  const modes = [...names, usage["service_tier"], usage["speed"]].filter(isDearOrCheap);
  return countsOf(usage, {
    modes: [...new Set(modes)],
    searches: searchesIn(valueAt(event, "output") ?? valueAt(event, "response.output")),
  });
}

/** Adds the usage in a service's body, chunk or event, if it has one. */
export function addUsage(meter: TokenMeter, event: unknown): void {
  const usage = readUsage(event);
  if (usage !== null) meter.reported = mergeUsage(meter.reported, usage);
}

/** Returns the counts of an unchecked usage in the form of the `ai` package, whose gateway may report the cost. */
export function toTokenUsage(usage: unknown, gatewayCost?: unknown): TokenUsage {
  const { raw } = (usage ?? {}) as Partial<LanguageModelV4Usage>;
  const counts = (isRecord(raw) ? readUsage({ usage: raw }) : null) ?? countsOfParts(usage);
  const isCost = gatewayCost !== undefined && gatewayCost !== null && gatewayCost !== "";
  const billedUsd = isCost ? toCount(Number(gatewayCost)) : null;
  return billedUsd === null ? counts : { ...counts, billedUsd };
}

function countsOfParts(usage: unknown): TokenUsage {
  const { inputTokens, outputTokens } = (usage ?? {}) as Partial<LanguageModelV4Usage>;
  const cacheRead = toCount(inputTokens?.cacheRead);
  const cacheWrite = toCount(inputTokens?.cacheWrite);
  const total = toCount(inputTokens?.total);
  const uncached = total && Math.max(0, total - (cacheRead ?? 0) - (cacheWrite ?? 0));
  return {
    input: toCount(inputTokens?.noCache) ?? uncached,
    cacheRead,
    cacheWrite,
    output: toCount(outputTokens?.total),
    reasoning: toCount(outputTokens?.reasoning),
  };
}

function hasCount(usage: object): boolean {
  const counts = ["input", "output", "cacheRead", "cacheWrite"].flatMap(
    (name) => places.get(name) ?? [],
  );
  return counts.some((place) => toCount(valueAt(usage, place)) !== null);
}

interface Besides {
  readonly modes: readonly string[];
  readonly searches: number;
}

function countsOf(usage: Record<string, unknown>, { modes, searches }: Besides): TokenUsage {
  const entries = Array.from(places, ([name, at]) => [name, greatest(usage, at)]);
  const amounts = Object.fromEntries(entries) as Amounts;
  const { input, cacheRead, cacheWrite, longCacheWrite, reasoning } = amounts;
  // Anthropic's count of input excludes the cache; a gateway in OpenAI's form may have both names.
  const isAnthropic = !("prompt_tokens" in usage) && excluded.some((name) => name in usage);
  const cached = isAnthropic ? 0 : (cacheRead ?? 0) + (cacheWrite ?? 0);
  const { output, isDoubtful } = outputOf(isAnthropic ? { ...amounts, total: null } : amounts);
  const own = usage["is_byok"] === true ? (amounts.ownCost ?? 0) : 0;
  const searched = Math.max(searches, amounts.searches ?? 0);
  return {
    input: input && Math.max(0, input - cached),
    cacheRead,
    cacheWrite,
    output,
    reasoning,
    ...(longCacheWrite && { longCacheWrite }),
    ...(searched > 0 && { searches: searched }),
    ...(amounts.cost !== null && { billedUsd: amounts.cost + own }),
    ...(modes.length > 0 && { modes }),
    ...((isDoubtful || cached > (input ?? cached)) && { isDoubtful: true }),
  };
}

const excluded = ["cache_read_input_tokens", "cache_creation_input_tokens"];

const modePlaces = ["service_tier", "response.service_tier"];

/** The names of the usual price. */
const standardModes = new Set(["auto", "default", "standard", "standard_only", "on_demand"]);

function isDearOrCheap(mode: unknown): mode is string {
  return typeof mode === "string" && mode !== "" && !standardModes.has(mode);
}

/** Reasoning is part of the output, beside it, or only in the total. */
function outputOf({ input, output, total, reasoning }: Amounts) {
  if (output === null) return { output, isDoubtful: false };
  const besides = total === null || input === null ? 0 : Math.max(0, total - input - output);
  const thought = reasoning ?? 0;
  if (besides > 0) {
    return {
      output: output + besides,
      isDoubtful: reasoning !== null && thought > output + besides,
    };
  }
  const isBeside = thought > output;
  return { output: isBeside ? output + thought : output, isDoubtful: isBeside };
}

function searchesIn(output: unknown): number {
  if (!Array.isArray(output)) return 0;
  return output.filter((item) => valueAt(item, "type") === "web_search_call").length;
}

function greatest(usage: object, at: readonly string[]): number | null {
  const counts = at.flatMap((place) => toCount(valueAt(usage, place)) ?? []);
  return counts.length === 0 ? null : Math.max(...counts);
}

/** The keys of each place, which every event of a reply is searched for. */
const keysOf = new Map<string, readonly string[]>();

function valueAt(value: unknown, place: string): unknown {
  const keys = keysOf.get(place) ?? place.split(".");
  keysOf.set(place, keys);
  let inner = value;
  for (const key of keys) inner = (Object(inner) as Record<string, unknown>)[key];
  return inner;
}
