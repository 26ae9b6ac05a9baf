import type { Exchange } from "./exchange.ts";
import {
  digestsToAnswer,
  type RecordedRequest,
  requestDifference,
  requestDigest,
} from "./request-match.ts";

/** Counts how often each exchange was used, and keeps what should not have happened. */
export interface ReplayLedger {
  /** The exchange that answers a request, or null: then it is a problem. */
  take(request: RecordedRequest): Exchange | null;
  /** Returns an exchange much like a request, and the first way in which it is not, without a value. */
  nearest(request: RecordedRequest): { name: string; difference: string | null } | null;
  /** Unmatched and extra requests in order, then unused exchanges; empty when all went as listed. */
  problems(): string[];
  /** The names of exchanges that were never used. */
  unused(): string[];
}

interface Entry {
  readonly exchange: Exchange;
  uses: number;
}

/**
 * Opens a ledger. A request that several exchanges match uses them up in the order listed.
 *
 * @param exchanges - What may be used; listing one twice allows two uses.
 * @param times - How often each listed exchange is to be used; with `Infinity` as often as asked,
 * and of several for one request each once, then the last again and again.
 */
export function openReplayLedger(exchanges: readonly Exchange[], times: number): ReplayLedger {
  const entries = exchanges.map((exchange): Entry => ({ exchange, uses: 0 }));
  const byDigest = Map.groupBy(entries, ({ exchange }) => requestDigest(exchange.request));
  const unmatched: string[] = [];

  function matching(request: RecordedRequest): Entry[] {
    const alike = new Set(digestsToAnswer(request).flatMap((digest) => byDigest.get(digest) ?? []));
    return [...alike].filter(({ exchange }) => requestDifference(exchange, request) === null);
  }

  function reasonFor(request: RecordedRequest): string {
    const [usedUp] = matching(request);
    if (usedUp !== undefined) return `is extra: ${usedUp.exchange.name} is used up`;
    const near = nearest(request);
    if (near === null) return "is unmatched: no exchange is listed";
    return `is unmatched: unlike ${near.name}, ${near.difference}`;
  }

  function nearest(request: RecordedRequest) {
    const stillOpen = entries.filter(({ uses }) => uses < times);
    const candidates = stillOpen.length > 0 ? stillOpen : entries;
    const { pathname } = new URL(request.url);
    const found =
      candidates.find(({ exchange }) => exchange.request.path === pathname) ?? candidates[0];
    if (found === undefined) return null;
    const { exchange } = found;
    return { name: exchange.name, difference: requestDifference(exchange, request) };
  }

  return {
    nearest,
    take(request) {
      const open = matching(request).filter(({ uses }) => uses < times);
      const entry =
        times === Infinity ? (open.find(({ uses }) => uses === 0) ?? open.at(-1)) : open[0];
      if (entry === undefined) {
        unmatched.push(`${summary(request)} ${reasonFor(request)}.`);
        return null;
      }
      entry.uses += 1;
      return entry.exchange;
    },
    problems() {
      const unused = entries.filter(({ uses }) => uses < times);
      return [...unmatched, ...unused.map((entry) => unusedLine(entry, times))];
    },
    unused: () => entries.filter(({ uses }) => uses === 0).map(({ exchange }) => exchange.name),
  };
}

function unusedLine({ exchange, uses }: Entry, times: number): string {
  return `${exchange.name} is unused: ${times - uses} of ${times} ${times === 1 ? "use" : "uses"} left.`;
}

function summary({ method, url }: RecordedRequest): string {
  // The query may hold a secret, the path does not.
  return `${method} ${new URL(url).pathname}`;
}
