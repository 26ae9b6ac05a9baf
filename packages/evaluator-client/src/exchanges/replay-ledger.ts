import { hash } from "node:crypto";
import { isRecord } from "../questions/json.ts";
import type { AskedRequest, Exchange } from "./exchange.ts";
import { keyText } from "./find-secrets.ts";

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
    const matching = [...alike].filter((exchange) => requestDifference(exchange, request) === null);
    const found = matching.find((exchange) => !this.#used.has(exchange)) ?? matching.at(-1);
    if (found !== undefined) this.#used.add(found);
    return found ?? null;
  }

  /** Returns a similar exchange and the place of the first difference. */
  nearest(request: AskedRequest): { name: string; difference: string | null } | null {
    const [path] = request.path.split("?");
    const isSamePath = (exchange: Exchange) => exchange.request.path === path;
    const near = this.#exchanges.find(isSamePath) ?? this.#exchanges[0];
    return near ? { name: near.name, difference: requestDifference(near, request) } : null;
  }

  unused(): Exchange[] {
    return this.#exchanges.filter((exchange) => !this.#used.has(exchange));
  }
}

/** Returns the first difference in method, path, listed headers or body, without a value; null if equal. */
function requestDifference({ request: expected }: Exchange, request: AskedRequest): string | null {
  if (request.method !== expected.method) return "method differs";
  if (request.path !== expected.path) return "path or query differs";
  const { headers } = request;
  const name = Object.keys(expected.headers).find((key) => headers[key] !== expected.headers[key]);
  if (name !== undefined) return `header ${name} ${name in headers ? "differs" : "is missing"}`;
  return firstDifference(expected.body, request.body, "body");
}

/** Returns the path of the first difference of two JSON values; the order of keys does not count. */
function firstDifference(expected: unknown, actual: unknown, path: string): string | null {
  const isList = Array.isArray(actual);
  const areAlike = isList ? Array.isArray(expected) : isRecord(expected) && isRecord(actual);
  if (!areAlike) return expected === actual ? null : `${path} differs`;
  // Other keys than plain names may be text of a person.
  const pathOf = (key: string) =>
    path + (isList ? `.${key}` : keyText(key).replace(/^\[.*/s, '["…"]'));
  const unseen = new Map<string, unknown>(Object.entries(actual as object));
  for (const [key, value] of Object.entries(expected as object)) {
    if (!unseen.has(key)) return `${pathOf(key)} is missing`;
    const difference = firstDifference(value, unseen.get(key), pathOf(key));
    if (difference !== null) return difference;
    unseen.delete(key);
  }
  const [unexpected] = unseen.keys();
  return unexpected === undefined ? null : `${pathOf(unexpected)} is unexpected`;
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
