import {
  CliError,
  type Environment,
  isLoopbackHost,
  parseWords,
  readPositionals,
  trimEnvironment,
} from "evaluator-kit";
import { apiKeyVariables } from "evaluator-client";
import type { z } from "zod";
import { type ReplyServer, type SharedLimitOptions, transportUse } from "../services/services.ts";
import { type Tier, tierNames } from "../tier-question.ts";
import { defaultTierModels, environmentSchema, secretNames } from "./environment-schema.ts";

/** What a person can set. */
export type RouterOptions = ReturnType<typeof parseRouterOptions>;

/**
 * Reads `--host` and `--port` as the variables they stand for.
 *
 * @throws UsageError when the words mean nothing.
 */
export function readArguments(words: readonly string[]): Environment {
  const options = { host: { type: "string" }, port: { type: "string" } } as const;
  const { values, positionals } = parseWords(words, options);
  readPositionals(positionals, []);
  const { host, port } = values;
  return { ...(host !== undefined && { HOST: host }), ...(port !== undefined && { PORT: port }) };
}

/**
 * Reads the router's options from environment variables; a blank one counts as unset.
 *
 * @throws CliError that names the first wrong variable.
 */
export function parseRouterOptions(env: Environment) {
  const { data, error } = environmentSchema.safeParse(trimEnvironment(env));
  if (!data) throw new CliError(describeProblem(error, env));
  checkHost(data);
  return {
    /** The address to listen on. @default "127.0.0.1" */
    host: data.HOST,
    /** The port to listen on; 0 takes any free one. @default 3000 */
    port: data.PORT,
    /** What a client must show; never null where other machines can reach the router. */
    accessToken: data.ROUTER_ACCESS_TOKEN ?? null,
    /** Further names the router answers to, with or without a port. */
    allowedNames: data.ROUTER_ALLOWED_HOSTS ?? [],
    /** The text model id of each tier. */
    tierModels: readTierModels(data),
    policy: {
      minConfidence: data.ROUTER_MIN_CONFIDENCE ?? null,
      failureTier: data.ROUTER_FAILURE_TIER ?? null,
      decisionTimeoutMs: data.ROUTER_DECISION_TIMEOUT_MS ?? data.ROUTER_DECISION_MS ?? null,
      fallbackModels: readFallbackModels(data),
      ties: data.ROUTER_TIES,
      shadowModel: readShadowModel(data),
    },
    /** What of a conversation is decided by. @default "sticky" */
    context: data.ROUTER_CONTEXT,
    /** Further names of models, each with what it stands for: `auto`, a tier or a model. */
    aliases: data.ROUTER_MODEL_ALIASES ?? new Map(),
    /** Calls that ask a model at once, at most. @default 64 */
    maxCallsInFlight: data.ROUTER_MAX_CALLS,
    /**
     * Time a client may leave its answer unread before it is cut off, in milliseconds; within twice
     * of it, its slot is free and the model's call is ended. @default 20000
     */
    stallMs: data.ROUTER_STALL_TIMEOUT_MS,
    /** The file of the calibration that corrects decisions, or null for none. */
    calibrationFile: data.ROUTER_CALIBRATION ?? null,
    /** The file each message's record is added to, or null for none. */
    decisionLog: data.ROUTER_DECISION_LOG ?? null,
    /** Whether each response is printed as one line. @default true */
    hasAccessLog: data.ROUTER_ACCESS_LOG === "on",
    /** Who decides and who replies. */
    engines: {
      evaluator: readsEvaluator(data) ? env : null,
      reply: readReplyServer(data, env),
      secrets: [
        ...keyNames.flatMap((name) => data[name] ?? []),
        ...addressSecrets(data.ROUTER_LIMITS),
      ],
    },
    /** The limit that several routers share, or null where this one has a key to itself. */
    sharedLimit: readSharedLimit(data),
    /** Whether traces are sent, to where the usual variables say. @default false */
    hasTraces: hasTraces(data),
    /** What the decision log calls this process; null for the machine's name and the process id. */
    instance: data.ROUTER_INSTANCE ?? null,
    /** What a person should change in the settings, one line each. */
    warnings: data.ROUTER_DECISION_MS === undefined ? [] : [renamed],
  };
}

const renamed =
  "ROUTER_DECISION_MS is called ROUTER_DECISION_TIMEOUT_MS now; the old name is still read.";

type Settings = z.infer<typeof environmentSchema>;

const keyNames = [...Object.values(apiKeyVariables), "ROUTER_REPLY_API_KEY"] as const;

/** The variables of OpenTelemetry's own specification; the rest of them its packages read. */
function hasTraces(data: Settings): boolean {
  const address = data.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? data.OTEL_EXPORTER_OTLP_ENDPOINT;
  const isOff = data.OTEL_SDK_DISABLED?.toLowerCase() === "true";
  return address !== undefined && !isOff && data.OTEL_TRACES_EXPORTER !== "none";
}

function readSharedLimit(data: Settings): SharedLimitOptions | null {
  const { ROUTER_LIMITS: url, ROUTER_REQUESTS_PER_MINUTE: requestsPerMinute = null } = data;
  return url === undefined ? null : { url, requestsPerMinute };
}

/** What of a database's address must not be printed: all of it, its start up to the host, its password. */
function addressSecrets(address: string | undefined): string[] {
  const [start, password] = /^\w+:\/\/[^:@/]*:([^@]*)@/.exec(address ?? "") ?? [];
  return [address, start, password].filter((secret) => secret !== undefined);
}

/** Whether the environment names who decides; a wrong name is rejected where it is asked. */
function readsEvaluator(data: Settings): boolean {
  const use = decidingUse(data);
  if (use === null || !use.isEmulatedWithoutKey) return true;
  return data[apiKeyVariables[use.name]] !== undefined;
}

function decidingUse({ EVALUATOR_TRANSPORT = "gateway" }: Settings) {
  return transportUse(EVALUATOR_TRANSPORT);
}

function readReplyServer(data: Settings, env: Environment): ReplyServer | null {
  const { ROUTER_REPLY_BASE_URL: own, AI_GATEWAY_API_KEY: apiKey, EVALUATOR_BASE_URL } = data;
  if (own !== undefined) {
    return { kind: "openai-compatible", apiKey: data.ROUTER_REPLY_API_KEY ?? null, baseUrl: own };
  }
  return apiKey === undefined
    ? null
    : { kind: "gateway", apiKey, baseUrl: EVALUATOR_BASE_URL, env };
}

/**
 * Returns each tier's model. On a server of one's own a tier that names none takes the chat model
 * that decides, where one does: one model is often all there is.
 */
function readTierModels(data: Settings): Record<Tier, string> {
  const decider = decidingUse(data)?.asksChatModel === true ? data.EVALUATOR_MODEL_ID : undefined;
  const models = tierNames.map((tier) => {
    const name = `ROUTER_MODEL_${tier.toUpperCase() as Uppercase<Tier>}` as const;
    if (data.ROUTER_REPLY_BASE_URL === undefined) {
      return [tier, checkedForGateway(name, data[name] ?? defaultTierModels[tier])] as const;
    }
    const model = data[name] ?? decider;
    if (model !== undefined) return [tier, model] as const;
    throw new CliError(
      `${name} is not set; ROUTER_REPLY_BASE_URL wants a model of its server for each tier, such as ${name}=qwen3:4b.`,
    );
  });
  return Object.fromEntries(models) as Record<Tier, string>;
}

function readFallbackModels(data: Settings): readonly string[] {
  const { ROUTER_FALLBACK_MODEL: one, ROUTER_FALLBACK_MODELS: several } = data;
  const name = several === undefined ? "ROUTER_FALLBACK_MODEL" : "ROUTER_FALLBACK_MODELS";
  const models = several ?? (one === undefined ? [] : [one]);
  if (data.ROUTER_REPLY_BASE_URL !== undefined) return models;
  return models.map((model) => checkedForGateway(name, model));
}

function readShadowModel({ ROUTER_SHADOW: model, ROUTER_REPLY_BASE_URL }: Settings): string | null {
  if (model === undefined || ROUTER_REPLY_BASE_URL !== undefined) return model ?? null;
  return checkedForGateway("ROUTER_SHADOW", model);
}

function checkedForGateway(name: string, model: string): string {
  if (model.includes("/")) return model;
  const advice = `write it as provider/model, such as ${defaultTierModels.fast}`;
  throw new CliError(`${name}=${JSON.stringify(model)} is not a model id; ${advice}.`);
}

function checkHost({ HOST, ROUTER_ACCESS_TOKEN }: Settings): void {
  if (isLoopbackHost(HOST) || ROUTER_ACCESS_TOKEN !== undefined) return;
  throw new CliError(
    `HOST=${JSON.stringify(HOST)} is not a loopback address: other machines could spend your credits here. Set ROUTER_ACCESS_TOKEN to a secret of at least 16 characters, or HOST to 127.0.0.1.`,
  );
}

function describeProblem(error: z.ZodError, env: Environment): string {
  const [issue] = error.issues;
  const name = String(issue?.path[0]);
  const shown = secretNames.has(name) ? name : `${name}=${JSON.stringify(env[name])}`;
  return `${shown} ${issue?.message}.`;
}
