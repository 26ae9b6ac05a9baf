import type { Basis } from "evaluator-calibration";
import {
  ConfigurationError,
  createEvaluator,
  directTransport,
  type Evaluation,
  type Evaluator,
  EvaluatorError,
  gatewayTransport,
  logprobsTransport,
  type Transport,
} from "evaluator-client";
import {
  CliError,
  type Environment,
  isLoopbackHost,
  printable,
  readDecimal,
  readWord,
  UsageError,
} from "evaluator-cli-kit";

/** How an engine is typed, for the usage of every command that takes one. */
export const engineUsage = `
ENGINE   gateway[=URL][@MODEL]     the evaluation model behind the AI gateway
         direct[=URL][@MODEL]      the vendor's API, or a server that speaks POST /v1/systemone
         decisions=URL@MODEL       a server that speaks POST /v1/decisions
         logprobs=URL@MODEL        a chat server that gives log-probabilities
         What is left out comes from the environment, as in the client. A key too: AI_GATEWAY_API_KEY,
         EVALUATOR_DIRECT_API_KEY (direct, decisions), EVALUATOR_LOGPROBS_API_KEY. After a comma:
         key=VARIABLE (a key of its own), key=none, price=USD (a million input tokens, logprobs),
         debias=raw, server=openai|vllm|llama.cpp|sglang|ollama.
`;

/** One way to have questions answered. */
export interface Engine {
  /** As it was typed. */
  readonly name: string;
  readonly transport: Transport;
  /** Whether it is a server of one's own, without the vendor's limits. */
  readonly isOwn: boolean;
  /** Whether its answers come with what they cost: the gateway says so, others where it was typed. */
  readonly reportsCost: boolean;
}

const kinds = ["gateway", "direct", "decisions", "logprobs"] as const;
const settings = ["key", "price", "debias", "server"] as const;
const debiases = ["raw", "balanced"] as const;
const servers = ["openai", "vllm", "llama.cpp", "sglang", "ollama"] as const;

interface Typed {
  readonly kind: (typeof kinds)[number];
  readonly baseUrl: string | undefined;
  readonly model: string | undefined;
  readonly key: string | null | undefined;
  readonly price: number | undefined;
  readonly debias: (typeof debiases)[number] | undefined;
  readonly server: (typeof servers)[number] | undefined;
}

/** Returns the engine that was typed. @throws UsageError that says what is missing or wrong. */
export function readEngine(text: string, env: Environment): Engine {
  const typed = parseEngine(text, env);
  try {
    return {
      name: text,
      transport: transportOf(typed, env),
      isOwn: typed.baseUrl !== undefined,
      reportsCost: typed.kind === "gateway" || typed.price !== undefined,
    };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new UsageError(printable`--engine ${text}: ${adviceOf(error, typed, env)}`, {
      cause: error,
    });
  }
}

function adviceOf(
  { option, environmentVariable, message }: ConfigurationError,
  { kind }: Typed,
  env: Environment,
): string {
  const isKey = option === "apiKey" && environmentVariable !== null;
  if (isKey && !env[environmentVariable]?.trim())
    return `a key is missing: set ${environmentVariable}.`;
  return `${message} Type it as ${kind}=URL@MODEL.`;
}

/** Returns an evaluator of an engine; each attempt has two minutes, since a laptop's model may take one. */
export function evaluatorOf({ transport, isOwn }: Engine, env: Environment): Evaluator {
  return createEvaluator({
    transport,
    env,
    attemptTimeoutMs: 120_000,
    deadlineMs: 600_000,
    ...(isOwn && { limits: {} }),
  });
}

/** Returns an engine's error as a person is told of it; any other error as it is. */
export function toEngineError(error: unknown, { name }: Engine): unknown {
  if (!(error instanceof EvaluatorError)) return error;
  return new CliError(printable`${name}: ${error.message}`, { cause: error });
}

/** Returns what the emulator's answer rests on, by its own header; null for any other server. */
export function emulatedBasis(headers: Evaluation["headers"]): Basis | null {
  const header = String(headers["x-evaluator-emulator"] ?? "");
  const basis = /basis=(\w+)/.exec(header)?.[1];
  if (basis === undefined) return null;
  // What rests on nothing is the word matcher's as well: it found no word.
  return basis === "recorded" || basis === "rule" ? basis : "lexical";
}

function parseEngine(text: string, env: Environment): Typed {
  const [address = "", ...given] = text.split(",");
  const match = /^([a-z]+)(?:=([^@]+))?(?:@(.+))?$/.exec(address);
  if (match === null || !kinds.some((kind) => kind === match[1])) {
    const wanted = "gateway, direct, decisions or logprobs, such as logprobs=URL@MODEL";
    throw new UsageError(printable`--engine ${text}: an engine is one of ${wanted}.`);
  }
  const [, kind, baseUrl, model] = match;
  const set = new Map(given.map((part) => part.split(/=(.*)/s, 2) as [string, string]));
  for (const name of set.keys()) readWord(`--engine ${kind},`, name, settings);
  const [debias, server, price] = [set.get("debias"), set.get("server"), set.get("price")];
  return {
    kind: kind as Typed["kind"],
    baseUrl,
    model,
    key: readKey(set.get("key"), env),
    price: price === undefined ? undefined : readDecimal("price=", price),
    debias: debias === undefined ? undefined : readWord("debias=", debias, debiases),
    server: server === undefined ? undefined : readWord("server=", server, servers),
  };
}

function readKey(variable: string | undefined, env: Environment): string | null | undefined {
  if (variable === undefined) return undefined;
  if (variable === "none") return null;
  const key = env[variable]?.trim();
  if (key !== undefined && key !== "") return key;
  throw new UsageError(printable`key=${variable} names an environment variable that is not set.`);
}

function transportOf(typed: Typed, env: Environment): Transport {
  const { kind, baseUrl, model, key, debias, server, price } = typed;
  const address = { env, ...(baseUrl !== undefined && { baseUrl }) };
  const named = model === undefined ? {} : { model };
  if (kind === "gateway") {
    const apiKey = key ?? (isKeyless(typed, env["AI_GATEWAY_API_KEY"]) ? "none" : undefined);
    const modelId = model === undefined ? {} : { modelId: model };
    return gatewayTransport({ ...address, ...modelId, ...(apiKey !== undefined && { apiKey }) });
  }
  if (kind === "logprobs") {
    return logprobsTransport({
      ...address,
      ...named,
      ...(key !== undefined && { apiKey: key }),
      ...(debias && { debias }),
      ...(server && { server }),
      ...(price !== undefined && { price: { inputUsdPerMillionTokens: price } }),
    });
  }
  const apiKey = isKeyless(typed, env["EVALUATOR_DIRECT_API_KEY"]) ? null : key;
  const wire = kind === "decisions" ? "decisions" : "systemone";
  return directTransport({ ...address, ...named, wire, ...(apiKey !== undefined && { apiKey }) });
}

/** Servers of this machine mostly want no key. */
function isKeyless({ key, baseUrl }: Typed, variable: string | undefined): boolean {
  if (key !== undefined) return key === null;
  const hasNone = variable === undefined || variable.trim() === "";
  const hostname = baseUrl === undefined ? undefined : URL.parse(baseUrl)?.hostname;
  return hasNone && hostname !== undefined && isLoopbackHost(hostname.replace(/^\[|\]$/g, ""));
}
