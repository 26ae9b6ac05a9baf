import { type Picodollars, picodollarsPerDollar } from "../catalog.ts";

/** One answered call of the gateway. */
interface AnsweredCall {
  /** `gen_…` */
  readonly id: string;
  readonly account: number;
  readonly model: string;
  readonly provider: string;
  readonly marketCost: Picodollars;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly isStreamed: boolean;
  /** Epoch milliseconds. */
  readonly startTime: number;
  /** Epoch milliseconds. */
  readonly endTime: number;
  /** The user and tags of the caller's `providerOptions.gateway`. */
  readonly attribution: { readonly user: string; readonly tags: readonly string[] };
}

/** Makes an empty ledger of the latest calls by id, and of the sums of all calls by hour. */
export function createLedger(capacity = 1000) {
  let calls = new Map<string, AnsweredCall>();
  // One iterator for all: a new one would pass the gaps of all deleted calls.
  let oldestFirst = calls.keys();
  /** One entry for each hour, model, provider, user and list of tags. */
  const entries = new Map<string, Entry>();
  return {
    add(call: AnsweredCall) {
      calls.set(call.id, call);
      if (calls.size > capacity) calls.delete(oldestFirst.next().value ?? "");
      const { account, model, provider, attribution, startTime } = call;
      const hour = new Date(startTime - (startTime % hourMs)).toISOString();
      const key = JSON.stringify([hour, account, model, provider, attribution]);
      const entry = entries.get(key) ?? { account, model, provider, attribution, hour, sums: zero };
      entries.set(key, { ...entry, sums: plus(entry.sums, { ...call, requests: 1 }) });
    },
    /** Returns a call as `GET /v1/generation` shows it, or null. */
    generation(id: string) {
      const call = calls.get(id);
      return call === undefined ? null : generationEntry(call);
    },
    /**
     * Returns the rows of `GET /v1/report`, sorted by group.
     *
     * @throws {RangeError} names the parameter that is wrong.
     */
    report(account: number, parameter: (name: string) => string | undefined) {
      const query = readSpendQuery(parameter);
      const rows = new Map<string, Sums>();
      for (const entry of entries.values()) {
        if (entry.account !== account || !matches(entry, query)) continue;
        for (const name of groupsOf(entry, query)) {
          rows.set(name, plus(rows.get(name) ?? zero, entry.sums));
        }
      }
      const column = query.groupBy === "day" && query.isByHour ? "hour" : query.groupBy;
      const sorted = [...rows].toSorted(([one], [other]) => (one < other ? -1 : 1));
      return sorted.map(([name, sums]) => toRow(column, name, sums));
    },
    reset() {
      calls = new Map();
      oldestFirst = calls.keys();
      entries.clear();
    },
  };
}

/** Costs are numbers in US dollars (field fact). */
function generationEntry(call: AnsweredCall) {
  const durationMs = call.endTime - call.startTime;
  return {
    id: call.id,
    total_cost: 0,
    market_cost: call.marketCost / picodollarsPerDollar,
    surcharge_cost: 0,
    gateway_cost: 0,
    upstream_inference_cost: 0,
    usage: 0,
    created_at: new Date(call.startTime).toISOString(),
    model: call.model,
    is_byok: false,
    provider_name: call.provider,
    streamed: call.isStreamed,
    finish_reason: "stop",
    latency: durationMs,
    generation_time: durationMs,
    native_tokens_prompt: call.inputTokens,
    native_tokens_completion: call.outputTokens,
    native_tokens_reasoning: 0,
    native_tokens_cached: 0,
    native_tokens_cache_creation: 0,
    billable_web_search_calls: 0,
  };
}

const groups = ["day", "user", "model", "tag", "provider", "credential_type"] as const;

function readSpendQuery(parameter: (name: string) => string | undefined) {
  const date = (name: string) => {
    const text = parameter(name) ?? "";
    if (/^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))) return text;
    throw new RangeError(`${name}: expected a date such as 2026-11-22`);
  };
  const word = <TWord extends string>(name: string, words: readonly TWord[], fallback: TWord) => {
    const found = words.find((word) => word === (parameter(name) ?? fallback));
    if (found !== undefined) return found;
    throw new RangeError(`${name}: expected one of ${words.join(", ")}`);
  };
  return {
    /** Such as 2026-11-22, in UTC; both days are included. */
    startDate: date("start_date"),
    endDate: date("end_date"),
    groupBy: word("group_by", groups, "day"),
    isByHour: word("date_part", ["day", "hour"], "day") === "hour",
    user: parameter("user_id"),
    model: parameter("model"),
    provider: parameter("provider"),
    credentialType: parameter("credential_type"),
    tags: parameter("tags")?.split(",") ?? [],
  };
}

type SpendQuery = ReturnType<typeof readSpendQuery>;

interface Sums {
  readonly marketCost: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly requests: number;
}

interface Entry extends Pick<AnsweredCall, "account" | "model" | "provider" | "attribution"> {
  readonly hour: string;
  readonly sums: Sums;
}

const hourMs = 3_600_000;

// The gateway calls all upstream models with its own credential (contract section 4.1, rule 2).
const credentialType = "system";

const zero: Sums = { marketCost: 0, inputTokens: 0, outputTokens: 0, requests: 0 };

function plus(one: Sums, other: Sums): Sums {
  return {
    marketCost: one.marketCost + other.marketCost,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    requests: one.requests + other.requests,
  };
}

function matches(entry: Entry, query: SpendQuery): boolean {
  const day = entry.hour.slice(0, 10);
  const wanted = [
    [query.user, entry.attribution.user],
    [query.model, entry.model],
    [query.provider, entry.provider],
    [query.credentialType, credentialType],
  ];
  return (
    day >= query.startDate &&
    day <= query.endDate &&
    wanted.every(([asked, is]) => asked === undefined || asked === is) &&
    query.tags.every((tag) => entry.attribution.tags.includes(tag))
  );
}

/** Returns the groups of an entry; one with several tags counts under each. */
function groupsOf(entry: Entry, { groupBy, isByHour }: SpendQuery): readonly string[] {
  if (groupBy === "day") return [isByHour ? entry.hour : entry.hour.slice(0, 10)];
  if (groupBy === "tag") return entry.attribution.tags;
  if (groupBy === "user") return [entry.attribution.user];
  return [groupBy === "credential_type" ? credentialType : entry[groupBy]];
}

/** Costs are numbers in US dollars; the emulator charges the market's price. */
function toRow(column: string, name: string, sums: Sums): Record<string, string | number> {
  const cost = sums.marketCost / picodollarsPerDollar;
  return {
    [column]: name,
    total_cost: cost,
    market_cost: cost,
    input_tokens: sums.inputTokens,
    output_tokens: sums.outputTokens,
    cached_input_tokens: 0,
    cache_creation_input_tokens: 0,
    reasoning_tokens: 0,
    request_count: sums.requests,
  };
}
