import { type Picodollars, picodollarsPerDollar } from "./catalog/price.ts";

/** What an answered call counts for. */
interface SpentCall {
  readonly account: number;
  /** Epoch milliseconds. */
  readonly startTime: number;
  readonly model: string;
  readonly provider: string;
  /** Whom the caller's `providerOptions.gateway` charges it to. */
  readonly attribution: Attribution;
  readonly marketCost: Picodollars;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Whom and what a call is counted under, as the caller says. */
export interface Attribution {
  readonly user: string;
  readonly tags: readonly string[];
}

/** All answered calls, added up by hour. */
export type SpendLedger = ReturnType<typeof createSpendLedger>;

const groups = ["day", "user", "model", "tag", "provider", "credential_type"] as const;

/** What `GET /v1/report` is asked for. */
type SpendQuery = ReturnType<typeof readSpendQuery>;

/** Reads the query of `GET /v1/report`. @throws {RangeError} names the parameter that is wrong. */
export function readSpendQuery(parameter: (name: string) => string | undefined) {
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
    /** Such as 2026-11-22, in UTC; both days belong to it. */
    startDate: date("start_date"),
    endDate: date("end_date"),
    groupBy: word("group_by", groups, "day"),
    isByHour: word("date_part", ["day", "hour"], "day") === "hour",
    /** What a call must be; null where it does not matter. */
    user: parameter("user_id") ?? null,
    model: parameter("model") ?? null,
    provider: parameter("provider") ?? null,
    credentialType: parameter("credential_type") ?? null,
    tags: parameter("tags")?.split(",") ?? [],
  };
}

type SumName = "marketCost" | "inputTokens" | "outputTokens" | "requests";
type Sums = Record<SumName, number>;
type Counted = Omit<SpentCall, keyof Sums | "startTime">;
type Entry = Counted & { readonly hour: string; readonly sums: Sums };

const hourMs = 3_600_000;

// The gateway calls all upstream models with its own credential (contract section 4.1, rule 2).
const credentialType = "system";

/** Opens a ledger; it holds one entry for each hour, model, provider, user and list of tags. */
export function createSpendLedger() {
  const entries = new Map<string, Entry>();
  return {
    add({ startTime, marketCost, inputTokens, outputTokens, ...what }: SpentCall) {
      const startOfHour = startTime - (startTime % hourMs);
      const key = JSON.stringify([startOfHour, what]);
      const entry = entries.get(key) ?? newEntry(startOfHour, what);
      addTo(entry.sums, { marketCost, inputTokens, outputTokens, requests: 1 });
      entries.set(key, entry);
    },
    /** Returns the rows of a report, in the order of what they are grouped by. */
    report(account: number, query: SpendQuery) {
      const rows = new Map<string, Sums>();
      for (const entry of entries.values()) {
        if (entry.account !== account || !isAskedFor(entry, query)) continue;
        for (const name of namesOf(entry, query)) {
          const sums = rows.get(name) ?? noSums();
          addTo(sums, entry.sums);
          rows.set(name, sums);
        }
      }
      const column = query.groupBy === "day" && query.isByHour ? "hour" : query.groupBy;
      const sorted = [...rows].toSorted(([one], [other]) => (one < other ? -1 : 1));
      return sorted.map(([name, sums]) => toRow(column, name, sums));
    },
    reset: () => entries.clear(),
  };
}

function newEntry(startOfHour: number, what: Counted): Entry {
  return { ...what, hour: new Date(startOfHour).toISOString(), sums: noSums() };
}

function isAskedFor(entry: Entry, query: SpendQuery): boolean {
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
    wanted.every(([asked, is]) => asked === null || asked === is) &&
    query.tags.every((tag) => entry.attribution.tags.includes(tag))
  );
}

/** What an entry is counted under; a call with several tags counts under each. */
function namesOf(entry: Entry, { groupBy, isByHour }: SpendQuery): readonly string[] {
  if (groupBy === "day") return [isByHour ? entry.hour : entry.hour.slice(0, 10)];
  if (groupBy === "tag") return entry.attribution.tags;
  if (groupBy === "user") return [entry.attribution.user];
  return [groupBy === "credential_type" ? credentialType : entry[groupBy]];
}

function noSums(): Sums {
  return { marketCost: 0, inputTokens: 0, outputTokens: 0, requests: 0 };
}

function addTo(sums: Sums, more: Sums): void {
  for (const name of Object.keys(sums) as SumName[]) sums[name] += more[name];
}

/** Costs are numbers in US dollars; what left the credits is the market's price here. */
function toRow(
  column: string,
  name: string,
  { marketCost, inputTokens, outputTokens, requests }: Sums,
): Record<string, string | number> {
  const cost = marketCost / picodollarsPerDollar;
  return {
    [column]: name,
    total_cost: cost,
    market_cost: cost,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cached_input_tokens: 0,
    cache_creation_input_tokens: 0,
    reasoning_tokens: 0,
    request_count: requests,
  };
}
