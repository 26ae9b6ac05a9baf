import type { Basis } from "evaluator-calibration";
import {
  apiKeyVariables,
  ConfigurationError,
  createEvaluator,
  type Debias,
  directTransport,
  type DirectWire,
  type Evaluation,
  type Evaluator,
  EvaluatorError,
  gatewayTransport,
  type LabelServerName,
  logprobsTransport,
  type Transport,
  type TransportName,
} from "evaluator-client";
import {
  CliError,
  type Environment,
  isLoopbackHost,
  printable,
  readDecimal,
  readWord,
  UsageError,
} from "evaluator-kit";
import { type engineForms, serverNames } from "../commands/engine-help.ts";

/** A kind of engine: the word that is typed in front of its address. */
interface EngineKind {
  readonly open: (typed: Typed, env: Environment) => Transport;
  /** Whether every answer comes with what it costs. */
  readonly reportsCost: boolean;
  /** Whether the service lists its models and prices. */
  readonly hasCatalog: boolean;
}

const kinds = {
  gateway: {
    open: openGateway,
    reportsCost: true,
    hasCatalog: true,
  },
  direct: {
    open: (typed, env) => openDirect("systemone", typed, env),
    reportsCost: false,
    hasCatalog: false,
  },
  decisions: {
    open: (typed, env) => openDirect("decisions", typed, env),
    reportsCost: false,
    hasCatalog: false,
  },
  logprobs: {
    open: openLogprobs,
    reportsCost: false,
    hasCatalog: false,
  },
} satisfies Record<TransportName | keyof typeof engineForms, EngineKind>;

const debiases = ["raw", "balanced"] as const satisfies readonly Debias[];

/** One way to have questions answered. */
export interface Engine {
  /** As it was typed. */
  readonly name: string;
  readonly transport: Transport;
  /** Whether it is a server of one's own, without the vendor's limits. */
  readonly isOwn: boolean;
  /** Whether its answers come with what they cost, by themselves or because it was typed. */
  readonly reportsCost: boolean;
  /** Whether its service lists models and prices. */
  readonly hasCatalog: boolean;
  /** Whether it is at a loopback address, so that no state leaves this machine. */
  readonly isLocal: boolean;
  /** Whether it is local, gets no key and has no price: a local proxy with a key may be paid. */
  readonly isFree: boolean;
  /** Whether its service claims calibrated probabilities; "unknown" at any address but its service's. */
  readonly calibration: "claimed" | "none" | "unknown";
}

const settings = ["key", "price", "debias", "server"] as const;

interface Typed {
  readonly kind: TransportName | "decisions";
  readonly baseUrl: string | undefined;
  readonly model: string | undefined;
  readonly key: string | null | undefined;
  readonly price: number | undefined;
  readonly debias: Debias | undefined;
  readonly server: LabelServerName | undefined;
}

/**
 * Returns the engine that was typed, else the one that `EVALUATOR_TRANSPORT` names.
 *
 * @throws UsageError that says what is missing or wrong.
 */
export function readEngine(given: string | undefined, env: Environment): Engine {
  const text = given ?? env["EVALUATOR_TRANSPORT"] ?? "gateway";
  const typed = parseEngine(text, env);
  const { open, reportsCost, hasCatalog }: EngineKind = kinds[typed.kind];
  try {
    const transport = open(typed, env);
    const isLocal = isLoopbackUrl(transport.target?.url);
    return {
      name: text,
      transport,
      isLocal,
      isFree: isLocal && typed.price === undefined && keyOf(typed, env) === null,
      calibration: calibrationOf(transport),
      isOwn: typed.baseUrl !== undefined,
      reportsCost: reportsCost || typed.price !== undefined,
      hasCatalog,
    };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new UsageError(printable`--engine ${text}: ${adviceOf(error, typed, env)}`, {
      cause: error,
    });
  }
}

function calibrationOf({ name, target }: Transport): Engine["calibration"] {
  if (name === "logprobs") return "none";
  const services = [
    gatewayTransport({ apiKey: "none", env: {} }),
    directTransport({ apiKey: null, env: {} }),
  ];
  const isService = services.some(
    (service) =>
      service.target?.url === target?.url &&
      vendorOf(service.target?.modelId) === vendorOf(target?.modelId),
  );
  return isService ? "claimed" : "unknown";
}

function vendorOf(modelId = ""): string | undefined {
  return /^[^/]*\//.exec(modelId)?.[0];
}

function adviceOf(
  { option, environmentVariable, message }: ConfigurationError,
  { kind }: Typed,
  env: Environment,
): string {
  const isKey = option === "apiKey" && environmentVariable !== null;
  if (isKey && env[environmentVariable] === undefined)
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
  if (match === null || !Object.hasOwn(kinds, match[1] ?? "")) {
    const words = Object.keys(kinds);
    const wanted = `${words.slice(0, -1).join(", ")} or ${words.at(-1)}, such as logprobs=URL@MODEL`;
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
    server:
      server === undefined ? undefined : readWord<LabelServerName>("server=", server, serverNames),
  };
}

function readKey(variable: string | undefined, env: Environment): string | null | undefined {
  if (variable === undefined) return undefined;
  if (variable === "none") return null;
  const key = env[variable];
  if (key !== undefined) return key;
  throw new UsageError(printable`key=${variable} names an environment variable that is not set.`);
}

function keyOf({ kind, key }: Typed, env: Environment): string | null {
  const variable = apiKeyVariables[kind === "decisions" ? "direct" : kind];
  return key === undefined ? env[variable]?.trim() || null : key;
}

function openGateway(typed: Typed, env: Environment): Transport {
  const { baseUrl, model, key } = typed;
  const apiKey = key ?? (isKeyless(typed, env) ? "none" : undefined);
  return gatewayTransport({
    env,
    ...(baseUrl !== undefined && { baseUrl }),
    ...(model !== undefined && { modelId: model }),
    ...(apiKey !== undefined && { apiKey }),
  });
}

function openDirect(wire: DirectWire, typed: Typed, env: Environment): Transport {
  const { baseUrl, model, key } = typed;
  const apiKey = isKeyless(typed, env) ? null : key;
  return directTransport({
    env,
    wire,
    ...(baseUrl !== undefined && { baseUrl }),
    ...(model !== undefined && { model }),
    ...(apiKey !== undefined && { apiKey }),
  });
}

function openLogprobs(typed: Typed, env: Environment): Transport {
  const { baseUrl, model, key, debias, server, price } = typed;
  return logprobsTransport({
    env,
    ...(baseUrl !== undefined && { baseUrl }),
    ...(model !== undefined && { model }),
    ...(key !== undefined && { apiKey: key }),
    ...(debias && { debias }),
    ...(server && { server }),
    ...(price !== undefined && { price: { inputUsdPerMillionTokens: price } }),
  });
}

/** Servers of this machine mostly want no key. */
function isKeyless(typed: Typed, env: Environment): boolean {
  if (typed.key !== undefined) return typed.key === null;
  return keyOf(typed, env) === null && isLoopbackUrl(typed.baseUrl);
}

function isLoopbackUrl(url: string | undefined): boolean {
  const hostname = URL.parse(url ?? "")?.hostname;
  return hostname !== undefined && isLoopbackHost(hostname.replace(/^\[|\]$/g, ""));
}
