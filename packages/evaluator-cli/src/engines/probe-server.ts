import {
  boolean,
  choice,
  createEvaluator,
  directTransport,
  type Evaluation,
  EvaluatorError,
  logprobsTransport,
  StatusError,
  type Transport,
} from "evaluator-client";
import { type CliContext, parseJson } from "evaluator-kit";

interface ProbedServer {
  /** Without a slash and `/v1` at its end. */
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey: string | null;
}

const knownRequest = {
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

type Known = Evaluation<typeof knownRequest.questions>;

/** Asks known questions on every route that a server may have. */
export async function probeServer(server: ProbedServer, context: CliContext) {
  return {
    systemone: await probeNative("systemone", server, context),
    decisions: await probeNative("decisions", server, context),
    logprobs: await probeLogprobs(server, context),
  };
}

/** Asks the known questions through a route of the contract. */
async function probeNative(
  wire: "systemone" | "decisions",
  { baseUrl, model, apiKey }: ProbedServer,
  context: CliContext,
) {
  const transport = directTransport({ baseUrl, model, apiKey, wire, env: {} });
  const outcome = await askKnownQuestions(transport, context);
  if (!(outcome instanceof EvaluatorError)) {
    return { isUsable: true, found: "yes", right: findLowestRight(outcome) };
  }
  const isAbsent = outcome instanceof StatusError && [404, 405].includes(outcome.status);
  const problem = isAbsent ? `no (${outcome.status})` : outcome.message;
  return { isUsable: false, found: problem, right: null };
}

/** Asks the known questions by log-probabilities, twice, and examines the exchanged messages. */
async function probeLogprobs({ baseUrl, model, apiKey }: ProbedServer, context: CliContext) {
  const recordedCalls: RecordedCall[] = [];
  const fetch = createRecordingFetch(recordedCalls);
  const askByLogprobs = () =>
    askKnownQuestions(logprobsTransport({ baseUrl, model, apiKey, env: {}, fetch }), context);
  const firstOutcome = await askByLogprobs();
  const isUsable = !(firstOutcome instanceof EvaluatorError);
  const probeReport = {
    server: findServerKind(recordedCalls),
    listedTokens: Math.max(
      0,
      ...recordedCalls.map(({ responseJson }) => findLongestList(responseJson)),
    ),
    hasTokenizer: recordedCalls.some(
      ({ path, responseJson }) => path === "/tokenize" && responseJson !== null,
    ),
    isUsable,
    found: isUsable ? "yes" : firstOutcome.message,
    right: null as number | null,
    labelMass: null as number | null,
    flips: false,
    /** The median time of a call, once warm; null if unknown. */
    callMs: null as number | null,
  };
  if (!isUsable) return probeReport;
  const coldCallCount = recordedCalls.length;
  const secondOutcome = await askByLogprobs();
  const lastEvaluation = secondOutcome instanceof EvaluatorError ? firstOutcome : secondOutcome;
  const details = Object.values(
    lastEvaluation.providerMetadata["logprobs"] as Record<
      string,
      { labelMass: number; flips: boolean }
    >,
  );
  return Object.assign(probeReport, {
    right: findLowestRight(lastEvaluation),
    labelMass: Math.min(...details.map(({ labelMass }) => labelMass)),
    flips: details.some(({ flips }) => flips),
    callMs: computeMedianMs(recordedCalls.slice(coldCallCount)),
  });
}

async function askKnownQuestions(transport: Transport, { signal }: CliContext) {
  const timeouts = { attemptTimeoutMs: 300_000, deadlineMs: 300_000 };
  const settings = { env: {}, limits: {}, maxRetries: 0, ...timeouts };
  await using evaluator = createEvaluator({ transport, ...settings });
  return await evaluator.evaluate(knownRequest, { signal }).catch((error: unknown) => {
    if (error instanceof EvaluatorError) return error;
    throw error;
  });
}

/** Returns the lower probability of the two right answers. */
function findLowestRight({ answers }: Known): number {
  return Math.min(answers.blue.probability, answers.topic.probabilities.weather);
}

interface RecordedCall {
  readonly path: string;
  /** The body of the request. */
  readonly requestBody: string;
  /** The answer; null if it is not JSON. */
  readonly responseJson: unknown;
  readonly durationMs: number;
}

/** Returns a `fetch` that adds its requests and their answers to `calls`. */
function createRecordingFetch(recordedCalls: RecordedCall[]) {
  return async (requestUrl: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const startedAt = performance.now();
    const response = await fetch(requestUrl, init);
    const bodyText = await response.clone().text();
    const { pathname } = new URL(requestUrl instanceof Request ? requestUrl.url : requestUrl);
    recordedCalls.push({
      path: pathname.replace(/^.*(?=\/(?:v1|api)\/)|^.*(?=\/[^/]+$)/, ""),
      requestBody: typeof init?.body === "string" ? init.body : "",
      responseJson: response.ok ? parseJson(bodyText) : null,
      durationMs: performance.now() - startedAt,
    });
    return response;
  };
}

/** Returns the kind of server by how it was asked, or null before it was. */
function findServerKind(recordedCalls: readonly RecordedCall[]): string | null {
  const callsWithBody = recordedCalls.filter(({ requestBody }) => requestBody !== "");
  if (callsWithBody.some(({ path }) => path === "/completion")) return "llama.cpp";
  if (callsWithBody.some(({ path }) => path === "/generate")) return "sglang";
  const chatCall = callsWithBody.find(({ path }) => path === "/v1/chat/completions");
  if (chatCall === undefined) return null;
  if (chatCall.requestBody.includes('"chat_template_kwargs"')) return "vllm";
  return chatCall.requestBody.includes('"reasoning_effort"') ? "ollama" : "openai";
}

const questionPaths = new Set(["/v1/chat/completions", "/completion", "/generate"]);

function computeMedianMs(recordedCalls: readonly RecordedCall[]): number | null {
  const questionCalls = recordedCalls.filter(({ path }) => questionPaths.has(path));
  const callTimes = questionCalls
    .map(({ durationMs }) => durationMs)
    .toSorted((left, right) => left - right);
  return callTimes[Math.floor(callTimes.length / 2)] ?? null;
}

const tokenListNames = new Set([
  "top_logprobs",
  "output_top_logprobs",
  "output_token_ids_logprobs",
]);

/** Returns the length of the longest list of tokens anywhere in an answer. */
function findLongestList(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const lengths = Object.entries(value).map(([name, partValue]) => {
    if (!tokenListNames.has(name) || !Array.isArray(partValue)) return findLongestList(partValue);
    const [firstItem] = partValue as unknown[];
    // SGLang has one list for each position.
    return Array.isArray(firstItem) ? firstItem.length : partValue.length;
  });
  return Math.max(0, ...lengths);
}
