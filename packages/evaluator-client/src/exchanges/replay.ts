import { AsyncLocalStorage } from "node:async_hooks";
import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { ConfigurationError, EvaluatorError } from "../errors.ts";
import { isRecord } from "../questions/json.ts";
import type { Transport } from "../transports/transport.ts";
import {
  type AskedRequest,
  type Exchange,
  type ExchangeOptions,
  loadExchanges,
  readAsked,
  readExchangeOptions,
  toResponse,
} from "./exchange.ts";
import { keyText } from "./find-secrets.ts";

/** No exchange in the folder answers a replayed call; nothing was sent. */
export class MissingExchangeError extends EvaluatorError {
  /** The ids of the questions asked. */
  readonly questionIds: readonly string[];
  /** The digest of the request; its first digits are in the name of the exchange's file. */
  readonly digest: string;

  constructor(message: string, details: { questionIds: readonly string[]; digest: string }) {
    super(message);
    this.questionIds = details.questionIds;
    this.digest = details.digest;
  }
}

/** How recorded exchanges are replayed: with the options of the recording. */
export type ReplayOptions = ExchangeOptions;

/** A transport that answers from a folder of recorded exchanges, and never from a service. */
export interface ReplayTransport extends Transport {
  /** Throws an `Error` that names the exchanges which no call has used yet. */
  assertAllUsed(): void;
}

/**
 * Makes a transport that repeats the recorded answer of each call, without a key and without a
 * network. The order of keys in a state does not count. A call that was not recorded fails with a
 * `MissingExchangeError` that explains how to record it, and is not retried.
 *
 * @param folder - The folder of `record`; a missing one counts as empty.
 * @throws {ConfigurationError} when an option is wrong.
 * @throws {Error} if a file in the folder is not an exchange; names the file and the field.
 * @example
 * ```ts
 * const transport = replay(new URL("./exchanges", import.meta.url));
 * const evaluator = createEvaluator({ transport });
 * ```
 */
export function replay(folder: string | URL, options: ReplayOptions = {}): ReplayTransport {
  const { make, redact, path } = readExchangeOptions(folder, options);
  const ledger = new ReplayLedger(existsSync(path) ? loadExchanges(path) : [], {
    repeatsLast: true,
  });
  // How `fetch` knows the call that it answers.
  const calls = new AsyncLocalStorage<{ questionIds: readonly string[]; hasAsked: boolean }>();

  async function fetch(url: string, init: RequestInit): Promise<Response> {
    init.signal?.throwIfAborted();
    const request = readAsked(url, init, redact);
    const exchange = ledger.take(request);
    const call = calls.getStore() ?? { questionIds: [], hasAsked: false };
    call.hasAsked = true;
    if (exchange === null) throw toMissing(request, ledger.nearest(request), { path, ...call });
    const { status, headers, body } = exchange.response;
    return toResponse(JSON.stringify(body), { status, headers });
  }

  const inner = make({ fetch, apiKey: "replayed", env: {} });
  return {
    ...withoutLimits(inner),
    async send(request, context) {
      const call = { questionIds: Object.keys(request.questions), hasAsked: false };
      const reply = await calls.run(call, () => inner.send(request, context));
      if (call.hasAsked) return reply;
      throw new ConfigurationError(unusedFetch, { option: "transport" });
    },
    assertAllUsed: () => checkUnused(ledger.unused(), path),
  };
}

function checkUnused(unused: readonly Exchange[], path: string): void {
  if (unused.length === 0) return;
  const files = unused.map(({ name }) => `  ${name}.json\n`).join("");
  throw new Error(`No call used these exchanges in ${path}; delete the outdated ones:\n${files}`);
}

/** Drops the service's limits, which a folder does not have. */
function withoutLimits(inner: Transport): Omit<Transport, "send"> {
  const { name, target, images } = inner;
  return {
    name,
    ...(target && { target }),
    ...(images && { images }),
    ...(inner.estimate && { estimate: inner.estimate.bind(inner) }),
    close: async () => inner.close?.(),
  };
}

const unusedFetch =
  'The option "transport" makes a transport that ignores the given fetch; pass the options on, as in (own) => gatewayTransport({ ...own }).';

function toMissing(
  request: AskedRequest,
  nearest: ReturnType<ReplayLedger["nearest"]>,
  { path, questionIds }: { path: string; questionIds: readonly string[] },
): MissingExchangeError {
  const digest = requestDigest(request);
  const model = askedModel(request);
  const wire = request.path.slice(request.path.lastIndexOf("/") + 1);
  const message = [
    `No exchange in ${path} answers the ${listQuestions(questionIds)}`,
    model === null ? "" : `, asked of ${model}`,
    ` over ${wire} (digest ${digest.slice(0, 12)}).`,
    nearest === null ? "" : ` The nearest is ${nearest.name}, but ${withoutTexts(nearest)}.`,
    " To record it, make the evaluator with record(folder) in place of replay(folder), give it a key, and run this once.",
  ];
  return new MissingExchangeError(message.join(""), { questionIds, digest });
}

function askedModel({ headers, body }: AskedRequest): string | null {
  const named = headers["ai-model-id"] ?? (isRecord(body) ? body["model"] : null);
  return typeof named === "string" ? named : null;
}

/** Returns question ids for a message, such as `questions category, scam and 3 more`. */
function listQuestions(ids: readonly string[]): string {
  const shown = ids.slice(0, 8).map((id) => keyText(id).replace(/^\.|^\[|\]$/g, ""));
  const others = ids.length > 8 ? ` and ${ids.length - 8} more` : "";
  return `${ids.length === 1 ? "question" : "questions"} ${shown.join(", ")}${others}`;
}

/** Hides keys that are not plain names, which may be text of a person. */
function withoutTexts({ difference }: { difference: string | null }): string {
  return String(difference).replace(/\["(?:[^"\\]|\\.)*"\]/g, '["…"]');
}

/** Finds the exchanges that answer requests, and keeps which were used. */
export class ReplayLedger {
  readonly #exchanges: readonly Exchange[];
  readonly #byDigest: ReadonlyMap<string, readonly Exchange[]>;
  readonly #repeatsLast: boolean;
  readonly #used = new Set<Exchange>();

  /** @param options - `repeatsLast`: the last exchange of a request answers it again. */
  constructor(exchanges: readonly Exchange[], { repeatsLast }: { repeatsLast: boolean }) {
    this.#exchanges = exchanges;
    this.#byDigest = Map.groupBy(exchanges, ({ request }) => requestDigest(request));
    this.#repeatsLast = repeatsLast;
  }

  /** Returns the first unused exchange that answers a request, or null. */
  take(request: AskedRequest): Exchange | null {
    // An exchange may name no model.
    const digests = [request, { ...request, headers: {} }].map(requestDigest);
    const alike = new Set(digests.flatMap((digest) => this.#byDigest.get(digest) ?? []));
    const matching = [...alike].filter((exchange) => requestDifference(exchange, request) === null);
    const last = this.#repeatsLast ? matching.at(-1) : undefined;
    const found = matching.find((exchange) => !this.#used.has(exchange)) ?? last;
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
  const pathOf = (key: string) => path + (isList ? `.${key}` : keyText(key));
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
