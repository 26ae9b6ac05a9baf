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
 * @param exchangesFolder - The folder of `record`; a missing one counts as empty.
 * @throws {ConfigurationError} when an option is wrong.
 * @throws {Error} if a file in the folder is not an exchange; names the file and the field.
 * @example
 * ```ts
 * const transport = replay(new URL("./exchanges", import.meta.url));
 * const evaluator = createEvaluator({ transport });
 * ```
 */
export function replay(
  exchangesFolder: string | URL,
  options: ReplayOptions = {},
): ReplayTransport {
  const { make, redact, path } = readExchangeOptions(exchangesFolder, options);
  const replayLedger = new ReplayLedger(existsSync(path) ? loadExchanges(path) : []);
  // How `replayingFetch` knows the call that it answers.
  const currentCalls = new AsyncLocalStorage<{
    questionIds: readonly string[];
    hasAsked: boolean;
  }>();

  async function replayingFetch(requestUrl: string, requestInit: RequestInit): Promise<Response> {
    requestInit.signal?.throwIfAborted();
    const request = readAsked(requestUrl, requestInit, redact);
    const exchange = replayLedger.takeExchange(request);
    const currentCall = currentCalls.getStore() ?? { questionIds: [], hasAsked: false };
    currentCall.hasAsked = true;
    if (exchange === null) throw toMissing(request, { path, ...currentCall });
    const { status, headers, body } = exchange.response;
    const bodyText = [204, 205, 304].includes(status) ? null : JSON.stringify(body);
    return new Response(bodyText, { status, headers });
  }

  const innerTransport = make({ fetch: replayingFetch, apiKey: "replayed", env: {} });
  return {
    ...withoutLimits(innerTransport),
    async send(request, context) {
      const currentCall = { questionIds: Object.keys(request.questions), hasAsked: false };
      const transportReply = await currentCalls.run(currentCall, () =>
        innerTransport.send(request, context),
      );
      if (currentCall.hasAsked) return transportReply;
      return rejectOption("transport", unusedFetch);
    },
    assertAllUsed() {
      const unusedFiles = replayLedger
        .listUnused()
        .map(({ name }) => `  ${name}.json\n`)
        .join("");
      if (unusedFiles === "") return;
      throw new Error(
        `No call used these exchanges in ${path}; delete the outdated ones:\n${unusedFiles}`,
      );
    },
  };
}

/** Drops the service's limits, which a folder does not have. */
function withoutLimits(innerTransport: Transport): Omit<Transport, "send"> {
  const { name, target, images } = innerTransport;
  return {
    name,
    ...(target && { target }),
    ...(images && { images }),
    ...(innerTransport.estimate && { estimate: innerTransport.estimate.bind(innerTransport) }),
    close: async () => innerTransport.close?.(),
  };
}

const unusedFetch =
  "makes a transport that ignores the given fetch; pass the options on, as in (own) => gatewayTransport({ ...own })";

function toMissing(
  request: AskedRequest,
  { path, questionIds }: { path: string; questionIds: readonly string[] },
): MissingExchangeError {
  const digest = requestDigest(request);
  const modelId = request.headers["ai-model-id"] ?? textAt(request.body, "model");
  const wireName = request.path.slice(request.path.lastIndexOf("/") + 1);
  const message = [
    `No exchange in ${path} answers the ${listQuestions(questionIds)}`,
    modelId === null ? "" : `, asked of ${modelId}`,
    ` over ${wireName} (digest ${digest.slice(0, 12)}).`,
    " To record it, make the evaluator with record(folder) in place of replay(folder), give it a key, and run this once.",
  ];
  return new MissingExchangeError(message.join(""), { questionIds, digest });
}

/** Returns question ids for a message, such as `questions category, scam and 3 more`. */
function listQuestions(questionIds: readonly string[]): string {
  const shownNames = questionIds
    .slice(0, 8)
    .map((questionId) => keyText(questionId).replace(/^\.|^\[|\]$/g, ""));
  const othersText = questionIds.length > 8 ? ` and ${questionIds.length - 8} more` : "";
  return `${questionIds.length === 1 ? "question" : "questions"} ${shownNames.join(", ")}${othersText}`;
}
