import { type Picodollars, picodollarsPerDollar } from "./catalog.ts";
import { RequestError } from "./request-error.ts";

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
  const calls = new Map<string, AnsweredCall>();
  const entries = new Map<string, Entry>();
  return {
    add(call: AnsweredCall) {
      calls.set(call.id, call);
      if (calls.size > capacity) calls.delete(calls.keys().next().value ?? "");
      const entry = { account: call.account, groups: listGroups(call) };
      const groupKey = JSON.stringify(entry);
      const ledgerSums = plus(entries.get(groupKey)?.sums, { ...call, requests: 1 });
      entries.set(groupKey, { ...entry, sums: ledgerSums });
    },
    /** Returns a call as `GET /v1/generation` shows it, or null. */
    generation(generationId: string) {
      const call = calls.get(generationId);
      return call === undefined ? null : generationEntry(call);
    },
    /**
     * Returns the rows of `GET /v1/report`, sorted by group.
     *
     * @throws {RequestError} names the parameter that is wrong.
     */
    report(account: number, query: SpendQuery) {
      const { startDate, endDate, column, filters } = readSpendQuery(query);
      const rows = new Map<string, Sums>();
      for (const entry of entries.values()) {
        const [day = ""] = entry.groups.day;
        if (entry.account !== account || day < startDate || day > endDate) continue;
        const isWanted = filters.every(
          ([group, value]) => value === undefined || entry.groups[group].includes(value),
        );
        if (!isWanted) continue;
        for (const name of entry.groups[column]) {
          rows.set(name, plus(rows.get(name), entry.sums));
        }
      }
      const sortedEntries = [...rows].toSorted(([one], [other]) => (one < other ? -1 : 1));
      return sortedEntries.map(([name, ledgerSums]) => toRow(column, name, ledgerSums));
    },
    reset() {
      calls.clear();
      entries.clear();
    },
  };
}

type Group = "day" | "hour" | "user" | "model" | "tag" | "provider" | "credential_type";

/** The sums of all calls of one account with the same groups. */
interface Entry {
  readonly account: number;
  readonly groups: Readonly<Record<Group, readonly string[]>>;
  readonly sums: Sums;
}

const hourMs = 3_600_000;

/** Returns the groups of a call; it counts under each of its tags. */
function listGroups({ model, provider, attribution, startTime }: AnsweredCall): Entry["groups"] {
  const hour = new Date(startTime - (startTime % hourMs)).toISOString();
  return {
    day: [hour.slice(0, 10)],
    hour: [hour],
    user: [attribution.user],
    model: [model],
    tag: attribution.tags,
    provider: [provider],
    // The gateway calls all upstream models with its own credential (contract section 4.1, rule 2).
    credential_type: ["system"],
  };
}

type SpendQuery = Readonly<Record<string, string>>;

function readSpendQuery(query: SpendQuery) {
  const date = (name: string) => {
    const text = query[name] ?? "";
    if (/^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))) return text;
    throw new RequestError(`Invalid request: ${name}: expected a date such as 2026-11-22`);
  };
  const word = <TWord extends string>(name: string, words: readonly TWord[]) => {
    const foundWord = words.find((word) => word === (query[name] ?? words[0]));
    if (foundWord !== undefined) return foundWord;
    throw new RequestError(`Invalid request: ${name}: expected one of ${words.join(", ")}`);
  };
  const [startDate, endDate] = [date("start_date"), date("end_date")];
  const groups = ["day", "user", "model", "tag", "provider", "credential_type"] as const;
  const group = word("group_by", groups);
  const part = word("date_part", ["day", "hour"]);
  const filters: readonly [Group, string | undefined][] = [
    ["user", query["user_id"]],
    ["model", query["model"]],
    ["provider", query["provider"]],
    ["credential_type", query["credential_type"]],
    ...(query["tags"]?.split(",") ?? []).map((tag): [Group, string] => ["tag", tag]),
  ];
  return {
    /** Such as 2026-11-22, in UTC; both days are included. */
    startDate,
    endDate,
    column: group === "day" ? part : group,
    filters,
  };
}

const zero = { marketCost: 0, inputTokens: 0, outputTokens: 0, requests: 0 };

type Sums = Readonly<typeof zero>;

function plus(one: Sums = zero, other: Sums): Sums {
  return {
    marketCost: one.marketCost + other.marketCost,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    requests: one.requests + other.requests,
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

/** Costs are numbers in US dollars; the emulator charges the market's price. */
function toRow(column: string, name: string, ledgerSums: Sums): Record<string, string | number> {
  const cost = ledgerSums.marketCost / picodollarsPerDollar;
  return {
    [column]: name,
    total_cost: cost,
    market_cost: cost,
    input_tokens: ledgerSums.inputTokens,
    output_tokens: ledgerSums.outputTokens,
    cached_input_tokens: 0,
    cache_creation_input_tokens: 0,
    reasoning_tokens: 0,
    request_count: ledgerSums.requests,
  };
}
