import { AsyncLocalStorage } from "node:async_hooks";
import { existsSync } from "node:fs";
import { EvaluatorError } from "../errors.ts";
import { rejectOption } from "../options.ts";
import { textAt } from "../questions/json.ts";
import type { Transport } from "../transports/transport.ts";
import {
  type AskedRequest,
  type ExchangeOptions,
  loadExchanges,
  readAsked,
  readExchangeOptions,
} from "./exchange.ts";
import { keyText } from "./find-secrets.ts";
import { ReplayLedger, requestDigest } from "./replay-ledger.ts";

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
  const ledger = new ReplayLedger(existsSync(path) ? loadExchanges(path) : []);
  // How `fetch` knows the call that it answers.
  const calls = new AsyncLocalStorage<{ questionIds: readonly string[]; hasAsked: boolean }>();

  async function fetch(url: string, init: RequestInit): Promise<Response> {
    init.signal?.throwIfAborted();
    const request = readAsked(url, init, redact);
    const exchange = ledger.take(request);
    const call = calls.getStore() ?? { questionIds: [], hasAsked: false };
    call.hasAsked = true;
    if (exchange === null) throw toMissing(request, { path, ...call });
    const { status, headers, body } = exchange.response;
    const text = [204, 205, 304].includes(status) ? null : JSON.stringify(body);
    return new Response(text, { status, headers });
  }

  const inner = make({ fetch, apiKey: "replayed", env: {} });
  return {
    ...withoutLimits(inner),
    async send(request, context) {
      const call = { questionIds: Object.keys(request.questions), hasAsked: false };
      const reply = await calls.run(call, () => inner.send(request, context));
      if (call.hasAsked) return reply;
      return rejectOption("transport", unusedFetch);
    },
    assertAllUsed() {
      const files = ledger
        .unused()
        .map(({ name }) => `  ${name}.json\n`)
        .join("");
      if (files === "") return;
      throw new Error(
        `No call used these exchanges in ${path}; delete the outdated ones:\n${files}`,
      );
    },
  };
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
  "makes a transport that ignores the given fetch; pass the options on, as in (own) => gatewayTransport({ ...own })";

function toMissing(
  request: AskedRequest,
  { path, questionIds }: { path: string; questionIds: readonly string[] },
): MissingExchangeError {
  const digest = requestDigest(request);
  const model = request.headers["ai-model-id"] ?? textAt(request.body, "model");
  const wire = request.path.slice(request.path.lastIndexOf("/") + 1);
  const message = [
    `No exchange in ${path} answers the ${listQuestions(questionIds)}`,
    model === null ? "" : `, asked of ${model}`,
    ` over ${wire} (digest ${digest.slice(0, 12)}).`,
    " To record it, make the evaluator with record(folder) in place of replay(folder), give it a key, and run this once.",
  ];
  return new MissingExchangeError(message.join(""), { questionIds, digest });
}

/** Returns question ids for a message, such as `questions category, scam and 3 more`. */
function listQuestions(ids: readonly string[]): string {
  const shownNames = ids.slice(0, 8).map((id) => keyText(id).replace(/^\.|^\[|\]$/g, ""));
  const others = ids.length > 8 ? ` and ${ids.length - 8} more` : "";
  return `${ids.length === 1 ? "question" : "questions"} ${shownNames.join(", ")}${others}`;
}
