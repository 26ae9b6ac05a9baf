import { existsSync } from "node:fs";
import { ConfigurationError, EvaluatorError } from "../errors.ts";
import { isRecord } from "../questions/json.ts";
import type { Transport } from "../transports/transport.ts";
import { loadExchanges } from "./exchange.ts";
import { MissingExchangeError } from "./exchange-errors.ts";
import {
  type AskedRequest,
  type ExchangeOptions,
  folderPath,
  readAsked,
  readExchangeOptions,
  toResponse,
} from "./exchange-folder.ts";
import { openReplayLedger, type ReplayLedger } from "./replay-ledger.ts";
import { requestDigest } from "./request-match.ts";
import { keyText } from "./secrets-in-json.ts";

/** How recorded exchanges are replayed: as they were recorded. */
export type ReplayOptions = ExchangeOptions;

/** A transport that answers from a folder of recorded exchanges, and never from a service. */
export interface ReplayTransport extends Transport {
  /** Throws an `Error` that names the exchanges which no call has used yet. */
  assertAllUsed(): void;
}

/**
 * Makes a transport that answers each call as it was recorded, however often it is asked, without a
 * key and without a network. The order of keys in a state does not count. A call that was not
 * recorded is a `MissingExchangeError`, which says how to record it and is not tried again.
 *
 * @param folder - Where `record` put the exchanges; one that is not there yet holds none.
 * @throws {ConfigurationError} when an option is wrong.
 * @throws {Error} when a file in the folder is no exchange; names the file and the field.
 * @example
 * ```ts
 * const transport = replay(new URL("./exchanges", import.meta.url));
 * const evaluator = createEvaluator({ transport });
 * ```
 */
export function replay(folder: string | URL, options: ReplayOptions = {}): ReplayTransport {
  const path = folderPath(folder);
  const { transport: make, redact } = readExchangeOptions(options);
  const ledger = openReplayLedger(existsSync(path) ? loadExchanges(path) : [], Infinity);
  let asked = 0;

  async function fetch(url: string, init: RequestInit): Promise<Response> {
    init.signal?.throwIfAborted();
    asked += 1;
    const request = readAsked(url, init, redact);
    const sent = { ...request, url, body: JSON.stringify(request.body) ?? "" };
    const exchange = ledger.take(sent);
    if (exchange === null) throw new Unanswered(request, ledger.nearest(sent));
    const { status, headers, body } = exchange.response;
    return toResponse(JSON.stringify(body), { status, headers });
  }

  const inner = make({ fetch, apiKey: "replayed", env: {} });
  return {
    ...withoutLimits(inner),
    async send(request, context) {
      const before = asked;
      try {
        const reply = await inner.send(request, context);
        if (asked > before) return reply;
      } catch (error) {
        if (!(error instanceof Unanswered)) throw error;
        throw toMissing(error, { path, questionIds: Object.keys(request.questions) });
      }
      throw new ConfigurationError(unusedFetch, { option: "transport" });
    },
    assertAllUsed() {
      const files = ledger.unused().map((name) => `  ${name}.json\n`);
      if (files.length === 0) return;
      throw new Error(
        `No call used these exchanges in ${path}; delete what is old:\n${files.join("")}`,
      );
    },
  };
}

/** Without the service's limits: nobody else asks this folder. */
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
  'The option "transport" makes a transport that does not use the fetch it is given: hand on what it takes, as in (own) => gatewayTransport({ ...own }).';

/** Thrown below the transport, which alone knows the ids where an evaluation takes several calls. */
class Unanswered extends EvaluatorError {
  readonly request: AskedRequest;
  readonly nearest: ReturnType<ReplayLedger["nearest"]>;

  constructor(request: AskedRequest, nearest: Unanswered["nearest"]) {
    super("No exchange answers the request.");
    this.request = request;
    this.nearest = nearest;
  }
}

function toMissing(
  { request, nearest }: Unanswered,
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

/** Returns the model that a request names, or null. */
function askedModel({ headers, body }: AskedRequest): string | null {
  const named = headers["ai-model-id"] ?? (isRecord(body) ? body["model"] : null);
  return typeof named === "string" ? named : null;
}

const shownIds = 8;

/** Returns question ids for a message, such as `questions category, scam and 3 more`. */
function listQuestions(ids: readonly string[]): string {
  const shown = ids.slice(0, shownIds).map((id) => keyText(id).replace(/^\.|^\[|\]$/g, ""));
  const others = ids.length > shownIds ? ` and ${ids.length - shownIds} more` : "";
  return `${ids.length === 1 ? "question" : "questions"} ${shown.join(", ")}${others}`;
}

/** What differs, without keys that are no plain names: they may be what a person wrote. */
function withoutTexts({ difference }: { difference: string | null }): string {
  return String(difference).replace(/\["(?:[^"\\]|\\.)*"\]/g, '["…"]');
}
