import { hash } from "node:crypto";
import { isRecord } from "../questions/json.ts";
import type { AskedRequest, Exchange } from "./exchange.ts";

/** Finds the exchanges that answer requests, and keeps which were used. */
export class ReplayLedger {
  readonly #exchanges: readonly Exchange[];
  readonly #byDigest: ReadonlyMap<string, readonly Exchange[]>;
  readonly #used = new Set<Exchange>();

  constructor(exchanges: readonly Exchange[]) {
    this.#exchanges = exchanges;
    this.#byDigest = Map.groupBy(exchanges, ({ request }) => requestDigest(request));
  }

  /** Returns the first unused exchange that answers a request, else the last one again, or null. */
  take(request: AskedRequest): Exchange | null {
    // An exchange may name no model.
    const digests = [request, { ...request, headers: {} }].map(requestDigest);
    const alike = new Set(digests.flatMap((digest) => this.#byDigest.get(digest) ?? []));
    const matching = [...alike].filter((exchange) => hasHeaders(request, exchange.request.headers));
    const foundExchange = matching.find((exchange) => !this.#used.has(exchange)) ?? matching.at(-1);
    if (foundExchange !== undefined) this.#used.add(foundExchange);
    return foundExchange ?? null;
  }

  unused(): Exchange[] {
    return this.#exchanges.filter((exchange) => !this.#used.has(exchange));
  }
}

function hasHeaders(
  { headers }: AskedRequest,
  expectedParts: Exchange["request"]["headers"],
): boolean {
  return Object.entries(expectedParts).every(([name, value]) => headers[name] === value);
}

/** Returns the SHA-256 of a request's method, path, `ai-model-id` and JSON body with sorted keys. */
export function requestDigest({ method, path, headers, body }: AskedRequest): string {
  const model = headers["ai-model-id"] ?? null;
  return hash("sha256", canonicalJson([method, path, model, body ?? null]));
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const fields = Object.entries(value)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`);
  return `{${fields.join(",")}}`;
}
