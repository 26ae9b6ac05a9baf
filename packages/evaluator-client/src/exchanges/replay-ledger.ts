import { hash } from "node:crypto";
import type { AskedRequest, Exchange } from "./exchange.ts";
import { keyText } from "./find-secrets.ts";

interface Entry {
  readonly exchange: Exchange;
  uses: number;
}

/** Counts the uses of exchanges and collects the requests that none answers. */
export class ReplayLedger {
  readonly #entries: readonly Entry[];
  readonly #byDigest: ReadonlyMap<string, readonly Entry[]>;
  readonly #times: number;
  readonly #unmatched: string[] = [];

  /**
   * @param exchanges - If several match a request, they are used up in this order.
   * @param times - The uses of each; with `Infinity` each is used once, then the last one repeats.
   */
  constructor(exchanges: readonly Exchange[], times: number) {
    this.#entries = exchanges.map((exchange) => ({ exchange, uses: 0 }));
    this.#byDigest = Map.groupBy(this.#entries, ({ exchange }) => requestDigest(exchange.request));
    this.#times = times;
  }

  /** Returns the exchange that answers a request, or null, which counts as a problem. */
  take(request: AskedRequest): Exchange | null {
    const matching = this.#matching(request);
    const open = matching.filter(({ uses }) => uses < this.#times);
    const unused = this.#times === Infinity ? open.find(({ uses }) => uses === 0) : open[0];
    const entry = unused ?? open.at(-1);
    if (entry !== undefined) {
      entry.uses += 1;
      return entry.exchange;
    }
    // The query may hold a secret, the path does not.
    const [path] = request.path.split("?");
    const reason = this.#reasonFor(request, matching[0]?.exchange);
    this.#unmatched.push(`${request.method} ${path} is ${reason}.`);
    return null;
  }

  /** Returns a similar exchange and the place of the first difference. */
  nearest(request: AskedRequest): { name: string; difference: string | null } | null {
    const open = this.#entries.filter(({ uses }) => uses < this.#times);
    const candidates = open.length > 0 ? open : this.#entries;
    const [path] = request.path.split("?");
    const found =
      candidates.find(({ exchange }) => exchange.request.path === path) ?? candidates[0];
    if (found === undefined) return null;
    const { exchange } = found;
    return { name: exchange.name, difference: requestDifference(exchange, request) };
  }

  /** Returns the unmatched and extra requests in order, then the exchanges with uses left. */
  problems(): string[] {
    const times = this.#times;
    const unused = this.#entries.filter(({ uses }) => uses < times);
    const words = times === 1 ? "use" : "uses";
    return this.#unmatched.concat(
      unused.map(
        ({ exchange, uses }) =>
          `${exchange.name} is unused: ${times - uses} of ${times} ${words} left.`,
      ),
    );
  }

  /** Returns the names of the exchanges that were never used. */
  unused(): string[] {
    return this.#entries.filter(({ uses }) => uses === 0).map(({ exchange }) => exchange.name);
  }

  #matching(request: AskedRequest): Entry[] {
    // An exchange may name no model.
    const digests = [request, { ...request, headers: {} }].map(requestDigest);
    const alike = new Set(digests.flatMap((digest) => this.#byDigest.get(digest) ?? []));
    return [...alike].filter(({ exchange }) => requestDifference(exchange, request) === null);
  }

  #reasonFor(request: AskedRequest, usedUp: Exchange | undefined): string {
    if (usedUp !== undefined) return `extra: ${usedUp.name} is used up`;
    const near = this.nearest(request);
    if (near === null) return "unmatched: no exchange is listed";
    return `unmatched: unlike ${near.name}, ${near.difference}`;
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
  if (!isObject(expected) || !isObject(actual) || isArray(expected) !== isArray(actual)) {
    return expected === actual ? null : `${path} differs`;
  }
  const pathOf = (key: string) => path + (isArray(actual) ? `.${key}` : keyText(key));
  const unseen = new Map<string, unknown>(Object.entries(actual));
  for (const [key, value] of Object.entries(expected)) {
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
  return hash(
    "sha256",
    canonicalJson([method, path, headers["ai-model-id"] ?? null, body ?? null]),
  );
}

function canonicalJson(value: unknown): string {
  if (isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const fields = Object.entries(value)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`);
  return `{${fields.join(",")}}`;
}

const { isArray } = Array;

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
