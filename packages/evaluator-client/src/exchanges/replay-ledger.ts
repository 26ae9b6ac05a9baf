import { hash } from "node:crypto";
import { isRecord } from "../questions/json.ts";
import type { AskedRequest, Exchange } from "./exchange.ts";

/** Finds the exchanges that answer requests, and keeps which were used. */
export class ReplayLedger {
  readonly #exchanges: readonly Exchange[];
  readonly #byDigest: ReadonlyMap<string, readonly Exchange[]>;
  readonly #usedExchanges = new Set<Exchange>();

  constructor(exchanges: readonly Exchange[]) {
    this.#exchanges = exchanges;
    this.#byDigest = Map.groupBy(exchanges, ({ request }) => requestDigest(request));
  }

  /** Returns the first unused exchange that answers a request, else the last one again, or null. */
  takeExchange(request: AskedRequest): Exchange | null {
    // An exchange may name no model.
    const digests = [request, { ...request, headers: {} }].map(requestDigest);
    const sameDigestExchanges = new Set(
      digests.flatMap((requestDigestText) => this.#byDigest.get(requestDigestText) ?? []),
    );
    const matching = [...sameDigestExchanges].filter((exchange) =>
      hasHeaders(request, exchange.request.headers),
    );
    const foundExchange =
      matching.find((exchange) => !this.#usedExchanges.has(exchange)) ?? matching.at(-1);
    if (foundExchange !== undefined) this.#usedExchanges.add(foundExchange);
    return foundExchange ?? null;
  }

  listUnused(): Exchange[] {
    return this.#exchanges.filter((exchange) => !this.#usedExchanges.has(exchange));
  }
}

function hasHeaders(
  { headers }: AskedRequest,
  expectedParts: Exchange["request"]["headers"],
): boolean {
  return Object.entries(expectedParts).every(
    ([headerName, headerValue]) => headers[headerName] === headerValue,
  );
}

/** Returns the SHA-256 of a request's method, path, `ai-model-id` and JSON body with sorted keys. */
export function requestDigest({ method, path, headers, body }: AskedRequest): string {
  const modelId = headers["ai-model-id"] ?? null;
  return hash("sha256", canonicalJson([method, path, modelId, body ?? null]));
}

function canonicalJson(jsonValue: unknown): string {
  if (Array.isArray(jsonValue)) return `[${jsonValue.map(canonicalJson).join(",")}]`;
  if (!isRecord(jsonValue)) return JSON.stringify(jsonValue);
  const sortedFields = Object.entries(jsonValue)
    .toSorted(([leftName], [rightName]) => (leftName < rightName ? -1 : 1))
    .map(([fieldName, fieldValue]) => `${JSON.stringify(fieldName)}:${canonicalJson(fieldValue)}`);
  return `{${sortedFields.join(",")}}`;
}
