import {
  boolean,
  choice,
  createEvaluator,
  directTransport,
  type Evaluation,
  EvaluatorError,
  type Fetch,
  logprobsTransport,
  StatusError,
  type Transport,
} from "evaluator-client";
import { CliError, type CliContext, printable, systemErrorCode } from "evaluator-kit";
import { RequestRecorder } from "./request-recorder.ts";

/** Where a server is, and with which key it is asked. */
export interface ProbedServer {
  /** Without a slash and `/v1` at its end. */
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey: string | null;
}

/** What came of asking known questions one way. */
export interface Probe {
  readonly isUsable: boolean;
  /** Whether the server has such a route at all. */
  readonly isThere: boolean;
  /** What was found, and where it is not usable what to change. */
  readonly found: string;
  /** The probability of the right answers, the lowest of both; null where there is no answer. */
  readonly right: number | null;
}

/** What the log-probabilities of a chat showed. */
export interface LogprobsProbe extends Probe {
  readonly server: string | null;
  readonly listedTokens: number;
  readonly hasTokenizer: boolean;
  readonly labelMass: number | null;
  readonly flips: boolean;
  /** The middle time of a call, once warm, in milliseconds. */
  readonly callMs: number | null;
}

const known = {
  state: "The sky over the harbour is blue today, and there is not a cloud in it.",
  questions: {
    blue: boolean("Does the text say that the sky is blue?"),
    topic: choice("What is the text about?", {
      weather: "the weather or the sky",
      invoice: "an invoice or a bill that is to be paid",
      football: "a football match",
    }),
  },
};

type Known = Evaluation<typeof known.questions>;

/** Returns the names of the server's models. @throws CliError where it does not answer as a server does. */
export async function listModels(
  { baseUrl, apiKey }: Omit<ProbedServer, "model">,
  { signal }: Pick<CliContext, "signal">,
): Promise<readonly string[]> {
  const recorder = new RequestRecorder();
  const headers = apiKey === null ? {} : { Authorization: `Bearer ${apiKey}` };
  const limit = AbortSignal.any([signal, AbortSignal.timeout(20_000)]);
  const response = await recorder
    .fetch(`${baseUrl}/v1/models`, { headers, signal: limit, redirect: "manual" })
    .catch((error: unknown) => {
      signal.throwIfAborted();
      throw unreachable(baseUrl, error);
    });
  const { status } = response;
  if (status === 401 || status === 403) {
    const what = apiKey === null ? "wants a key" : "refuses the key";
    throw new CliError(
      printable`${baseUrl} ${what} (${String(status)}). Name the variable that holds it with --key VARIABLE.`,
    );
  }
  if (status >= 300 && status < 400) {
    throw new CliError(printable`${baseUrl} redirects to another address; give that one.`);
  }
  const list = recorder.calls[0]?.json;
  if (list === null && status < 400) {
    throw new CliError(
      printable`${baseUrl} answers, but /v1/models is no JSON: it is a web page or another service. Check the port and the path.`,
    );
  }
  const { data } = (list ?? {}) as { data?: readonly { id?: unknown }[] };
  return Array.isArray(data) ? data.map((model: { id?: unknown }) => String(model.id)) : [];
}

function unreachable(baseUrl: string, error: unknown): CliError {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const code = systemErrorCode(cause);
  const found =
    code === "ECONNREFUSED"
      ? "refuses the connection: nothing listens there"
      : code === "ENOTFOUND"
        ? "is no known host"
        : `does not answer${code === null ? "" : ` (${code})`}`;
  const advice = "Start the server, or check host, port and http or https.";
  return new CliError(printable`${baseUrl} ${found}. ${advice}`, { cause: error });
}

/** Asks the known questions on a wire that the server may speak itself. */
export async function probeNative(
  wire: "systemone" | "decisions",
  { baseUrl, model, apiKey }: ProbedServer,
  context: CliContext,
): Promise<Probe> {
  const transport = directTransport({ baseUrl, model, apiKey, wire, env: {} });
  const answered = await askKnown(transport, context);
  if (!(answered instanceof EvaluatorError)) {
    return { isUsable: true, isThere: true, found: "yes", right: rightIn(answered) };
  }
  const isAbsent = answered instanceof StatusError && [404, 405].includes(answered.status);
  const found = isAbsent ? `no (${answered.status})` : answered.message;
  return { isUsable: false, isThere: !isAbsent, found, right: null };
}

/** Asks the known questions by log-probabilities, twice, and looks at what went over the wire. */
export async function probeLogprobs(
  { baseUrl, model, apiKey }: ProbedServer,
  context: CliContext,
): Promise<LogprobsProbe> {
  const recorder = new RequestRecorder();
  const fetch: Fetch = (url, init) => recorder.fetch(url, init);
  const transport = logprobsTransport({ baseUrl, model, apiKey, env: {}, fetch });
  const first = await askKnown(transport, context);
  const seen = {
    server: recorder.serverKind(),
    listedTokens: recorder.listedTokens(),
    hasTokenizer: recorder.calls.some(({ path, json }) => path === "/tokenize" && json !== null),
  };
  if (first instanceof EvaluatorError) {
    const none = { isUsable: false, isThere: false, right: null };
    return { ...seen, ...none, found: first.message, labelMass: null, flips: false, callMs: null };
  }
  const cold = recorder.calls.length;
  const second = await askKnown(
    logprobsTransport({ baseUrl, model, apiKey, env: {}, fetch }),
    context,
  );
  const answered = second instanceof EvaluatorError ? first : second;
  const details = Object.values(
    answered.providerMetadata["logprobs"] as Record<string, { labelMass: number; flips: boolean }>,
  );
  return {
    ...seen,
    isUsable: true,
    isThere: true,
    found: "yes",
    right: rightIn(answered),
    labelMass: Math.min(...details.map(({ labelMass }) => labelMass)),
    flips: details.some(({ flips }) => flips),
    callMs: recorder.middleMs(cold),
  };
}

async function askKnown(
  transport: Transport,
  { signal }: Pick<CliContext, "signal">,
): Promise<Known | EvaluatorError> {
  await using evaluator = createEvaluator({
    transport,
    env: {},
    limits: {},
    maxRetries: 0,
    attemptTimeoutMs: 300_000,
    deadlineMs: 300_000,
  });
  try {
    return await evaluator.evaluate(known, { signal });
  } catch (error) {
    if (error instanceof EvaluatorError) return error;
    throw error;
  }
}

function rightIn({ answers }: Known): number {
  return Math.min(answers.blue.probability, answers.topic.probabilities.weather);
}
