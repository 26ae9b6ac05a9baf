import type { GatewayModelId } from "ai";
import { apiKeyVariables, keyVariables } from "evaluator-client";
import { CliError, type Environment, isLoopbackHost, trimEnvironment } from "evaluator-kit";
import { z } from "zod";
import { openAiUrlSchema, readRouterConfig, type RouterConfig } from "./config/router-config.ts";
import { oneOf, orNull } from "./config/fields.ts";
import { findTraceProtocol, traceVariables } from "./config/trace-variables.ts";
import {
  list,
  matching,
  milliseconds,
  numberTo,
  printable,
  wholeNumber,
} from "./config/variable-schemas.ts";
import { listWarnings } from "./config/variable-warnings.ts";
import { withoutUndefined } from "./conversation/conversation.ts";
import type { RoutingPolicy } from "./decision/decision.ts";
import { type Tier, tierNames } from "./decision/tier-question.ts";
import type { UpstreamOptions } from "./reply/upstream.ts";

/**
 * The gateway's text model for each tier, unless a variable names another. Their input prices are
 * $0.05 to $10 per million tokens: 200 to 1 (contract section 4.6, rule 8).
 */
export const defaultTierModels = {
  nano: "openai/gpt-5-nano",
  fast: "google/gemini-3.1-flash-lite",
  balanced: "anthropic/claude-sonnet-5.5",
  frontier: "anthropic/claude-fable-5.1",
} as const satisfies Record<Tier, GatewayModelId>;

const upToADay = { min: 0, max: 86_400_000 };
const numberOfCalls = { min: 1, max: 10_000, example: "256" };
const tooShort = "is short; set it to a secret of at least 16 characters";

/** A page's origin, or all of an app whose pages have random hosts. */
const originForm =
  /^(?:null|https?:\/\/[^\s/*]+|(?!https?:)[a-z][a-z0-9+.-]*:\/\/(?:\*|[^\s/*]+))$/;

/** The variables that {@link parseRouterOptions} reads; a message follows the name and the value. */
function variables(modelSchema: ReturnType<typeof modelId>) {
  return z.object({
    HOST: z.string().default("127.0.0.1"),
    PORT: orNull(wholeNumber("port", { max: 65_535, example: "PORT=3001" })),
    ROUTER_ACCESS_TOKEN: orNull(printable("token", z.string().min(16, tooShort))),
    ROUTER_KEYS: orNull(z.string()),
    ROUTER_LEASE_MS: milliseconds().default(60_000),
    ROUTER_ALLOWED_HOSTS: list(z.string().toLowerCase())
      .refine(
        (hostNames) => hostNames.every((hostName) => /^[a-z0-9.:[\]-]+$/.test(hostName)),
        "is not a list of host names, such as router.example.com,192.168.0.4:3000",
      )
      .default([]),
    ROUTER_ALLOWED_ORIGINS: list(z.string().toLowerCase())
      .refine(
        (origins) => origins.every((allowedOrigin) => originForm.test(allowedOrigin)),
        "is not a list of origins, such as app://obsidian.md,vscode-webview://*; only the hosts of an app's own scheme may be *",
      )
      .default([]),
    ROUTER_MAX_CALLS: wholeNumber("number of calls", numberOfCalls).default(256),
    ROUTER_PROMPT_CACHE: oneOf(["on", "off"]).default("on"),
    ROUTER_CLIENT_MODELS: oneOf(["auto", "named"]).default("auto"),
    ROUTER_REPLY_IDLE_TIMEOUT_MS: milliseconds(upToADay).default(120_000),
    ROUTER_REPLY_TIMEOUT_MS: milliseconds(upToADay).default(0),
    ROUTER_PING_MS: milliseconds(upToADay).default(10_000),
    ROUTER_KEEP_ALIVE_TIMEOUT_MS: milliseconds(upToADay).default(75_000),
    ROUTER_STALL_TIMEOUT_MS: milliseconds().default(20_000),
    ROUTER_CALIBRATION: orNull(z.string()),
    ROUTER_FIT: orNull(z.string()),
    ROUTER_DECISION_CALIBRATION: list().default([]),
    ROUTER_DECISION_CACHE: orNull(
      wholeNumber("number of seconds", { min: 1, max: 86_400, example: "60" }),
    ),
    ROUTER_DECISION_LOG: orNull(z.string()),
    ROUTER_LOG_TEXT: oneOf(["on", "off"]).default("off"),
    ROUTER_BLIND_SHARE: numberTo(0.05, "0.02").default(0),
    ROUTER_BLIND_USD_PER_DAY: numberTo(10_000, "0.5").default(1),
    ROUTER_ACCESS_LOG: oneOf(["on", "off"]).default("on"),
    ROUTER_INSTANCE: matching(
      /^[\w.:-]{1,64}$/,
      "is not a name of up to 64 letters, digits and the signs . : _ -, such as router-1",
    ),
    ROUTER_MIN_CONFIDENCE: orNull(numberTo(1, "0.6")),
    ROUTER_FAILURE_TIER: orNull(oneOf(tierNames)),
    ROUTER_REPLY_BASE_URL: orNull(openAiUrlSchema),
    ROUTER_REPLY_API_KEY: orNull(printable("key")),
    AI_GATEWAY_API_KEY: orNull(printable("key")),
    EVALUATOR_BASE_URL: orNull(
      z.url({
        protocol: /^https?$/,
        error: "is not an http or https URL, such as https://example.com/v4/ai",
      }),
    ),
    ROUTER_DECISION_TIMEOUT_MS: orNull(milliseconds()),
    ROUTER_LIMITS: matching(
      /^postgres(?:ql)?:\/\//,
      "is not the address of a PostgreSQL database, such as postgres://user:password@host:5432/database",
    ),
    ROUTER_REQUESTS_PER_MINUTE: orNull(
      wholeNumber("number of requests", { min: 1, max: 999_999, example: "1200" }),
    ),
    ...traceVariables,
    ROUTER_MODEL_NANO: orNull(modelSchema),
    ROUTER_MODEL_FAST: orNull(modelSchema),
    ROUTER_MODEL_BALANCED: orNull(modelSchema),
    ROUTER_MODEL_FRONTIER: orNull(modelSchema),
    ROUTER_FALLBACK_MODELS: list().pipe(z.array(modelSchema)).default([]),
    ROUTER_SHADOW: orNull(modelSchema),
  });
}

type Schema = ReturnType<typeof variables>;
type Values = z.infer<Schema>;

// By who replies, made once: zod compiles each schema for its first use, which takes 2 ms.
const schemas: { gateway?: Schema; server?: Schema } = {};

/** The options of a router. */
export type RouterOptions = ReturnType<typeof parseRouterOptions>;

/** Reads the options of the variables and of the file of `ROUTER_CONFIG`. @throws CliError with the place. */
export async function readRouterOptions(env: Environment, cwd: string, address?: TypedAddress) {
  return parseRouterOptions(env, await readRouterConfig(env, cwd), address);
}

/** The options of the command, which win over `HOST` and `PORT`. */
type TypedAddress = Readonly<Partial<Record<"HOST" | "PORT", string | undefined>>>;

/** Reads options; a blank variable is unset, and the file wins. @throws CliError with the variable. */
export function parseRouterOptions(
  givenEnvironment: Environment,
  config: RouterConfig | null = null,
  address: TypedAddress = {},
) {
  const env = trimEnvironment({ ...givenEnvironment, ...withoutUndefined(address) });
  const addressSettings = {
    hostSetting: address.HOST === undefined ? "HOST=" : "--host ",
    portSetting: address.PORT === undefined ? "PORT=" : "--port ",
  };
  const values = readVariables(env, addressSettings.hostSetting);
  const url = values.ROUTER_LIMITS;
  // An unknown transport is named when it is connected.
  const transport = env["EVALUATOR_TRANSPORT"] ?? "gateway";
  const chatModel = transport === "logprobs" ? env["EVALUATOR_MODEL_ID"] : undefined;
  const hasEvaluator = transport !== "gateway" || env[apiKeyVariables.gateway] !== undefined;
  const policy: RoutingPolicy = {
    minConfidence: values.ROUTER_MIN_CONFIDENCE,
    failureTier: values.ROUTER_FAILURE_TIER,
    decisionTimeoutMs: values.ROUTER_DECISION_TIMEOUT_MS,
    fallbackModels: values.ROUTER_FALLBACK_MODELS,
    shadowModel: values.ROUTER_SHADOW,
    marksCaches: values.ROUTER_PROMPT_CACHE === "on",
  };
  return {
    host: values.HOST,
    /** 0 takes any free port; null is 3000, or the next free one. */
    port: values.PORT,
    /** How the address was set, for messages. */
    addressSettings,
    accessToken: values.ROUTER_ACCESS_TOKEN,
    /** The file or the database of the named keys; null without. */
    keyStore: values.ROUTER_KEYS,
    /** How long an amount stays reserved if the router dies, in milliseconds. */
    leaseMs: values.ROUTER_LEASE_MS,
    /** Further host names of the router, with or without a port. */
    allowedNames: values.ROUTER_ALLOWED_HOSTS,
    /** Origins of other pages that may call with a key; `scheme://*` is every host of a scheme. */
    allowedOrigins: values.ROUTER_ALLOWED_ORIGINS,
    /** Further model names, each with its meaning: `auto`, a tier or a model. */
    aliases: config?.aliases ?? new Map<string, string>(),
    maxCallsInFlight: values.ROUTER_MAX_CALLS,
    /** Whether a client's own model names mean `auto` or the cheapest tier. */
    clientModels: values.ROUTER_CLIENT_MODELS,
    /** Limits of a reply in milliseconds; 0 for none. */
    waiting: {
      idleTimeoutMs: values.ROUTER_REPLY_IDLE_TIMEOUT_MS,
      timeoutMs: values.ROUTER_REPLY_TIMEOUT_MS,
    },
    /** The silence in a stream that a comment follows, in milliseconds; 0 for no comments. */
    pingMs: values.ROUTER_PING_MS,
    /** Time an idle connection stays open, in milliseconds. */
    keepAliveMs: values.ROUTER_KEEP_ALIVE_TIMEOUT_MS,
    /** Time a client may leave its answer unread. */
    stallMs: values.ROUTER_STALL_TIMEOUT_MS,
    calibrationFile: values.ROUTER_CALIBRATION,
    fitFile: values.ROUTER_FIT,
    /** The calibrations of clients' own questions. */
    decisionCalibrationFiles: values.ROUTER_DECISION_CALIBRATION,
    /** How long an answer to a client's own questions is kept; null for not at all. */
    decisionCacheSeconds: values.ROUTER_DECISION_CACHE,
    decisionLog: values.ROUTER_DECISION_LOG,
    /** Whether the log has the states and answers of clients' own questions. */
    hasLogText: values.ROUTER_LOG_TEXT === "on",
    blind: { share: values.ROUTER_BLIND_SHARE, usdPerDay: values.ROUTER_BLIND_USD_PER_DAY },
    hasAccessLog: values.ROUTER_ACCESS_LOG === "on",
    /** The router's name in the decision log. */
    instance: values.ROUTER_INSTANCE,
    /** The upstreams and tiers of the file; null without one. */
    config,
    tierModels: readTierModels(values, chatModel, config?.tiers),
    policy,
    /** The services to connect; the emulator replaces each one that is null. */
    engines: {
      evaluator: hasEvaluator ? givenEnvironment : null,
      reply: toReplyServer(values),
      secrets: [
        ...keyNames.flatMap((keyName) => env[keyName] ?? []),
        ...[url, values.ROUTER_KEYS].flatMap(addressSecrets),
        ...(config?.keys ?? []),
      ],
    },
    /** The limit that several routers share; null if this one has a key to itself. */
    sharedLimit:
      url === null ? null : { url, requestsPerMinute: values.ROUTER_REQUESTS_PER_MINUTE },
    /** The variables of the connections to services. */
    http: Object.fromEntries(Object.entries(env).filter(([httpName]) => httpNames.test(httpName))),
    /** Null without traces. */
    traceProtocol: findTraceProtocol(env, values),
    warnings: listWarnings(env, {
      knownNames: [...Object.keys(values), "ROUTER_CONFIG"],
      keys: config?.keys ?? [],
    }),
  };
}

const httpNames = /^(?:NODE_USE_ENV_PROXY|EVALUATOR_HTTP2|(?:HTTPS?|NO)_PROXY)$/i;

const keyNames = [...keyVariables, "ROUTER_REPLY_API_KEY"];

const secretNames: ReadonlySet<string> = new Set([
  ...keyNames,
  "ROUTER_ACCESS_TOKEN",
  "ROUTER_KEYS", // may be an address with a password
  "ROUTER_LIMITS",
  "ROUTER_REPLY_BASE_URL", // people write user name and password into addresses
]);

function readVariables(environment: Environment, hostSetting: string): Values {
  const replyService = environment["ROUTER_REPLY_BASE_URL"] === undefined ? "gateway" : "server";
  const schema = (schemas[replyService] ??= variables(modelId(replyService === "gateway")));
  const { data, error } = schema.safeParse(environment);
  if (error !== undefined) {
    const [firstIssue] = error.issues;
    const name = String(firstIssue?.path[0]);
    const setting = secretNames.has(name) ? name : `${name}=${JSON.stringify(environment[name])}`;
    throw new CliError(`${setting} ${firstIssue?.message}.`);
  }
  if ((data.ROUTER_ACCESS_TOKEN ?? data.ROUTER_KEYS) !== null) return data;
  if (data.ROUTER_ALLOWED_ORIGINS.length > 0) {
    throw new CliError(`ROUTER_ALLOWED_ORIGINS lets scripts of other pages ${needsKey}.`);
  }
  if (isLoopbackHost(data.HOST)) return data;
  const hostProblem = `${hostSetting}${JSON.stringify(data.HOST)} is not a loopback address, and lets other machines`;
  throw new CliError(`${hostProblem} ${needsKey}, or use ${hostSetting}127.0.0.1.`);
}

const needsKey =
  "spend your credits. Set ROUTER_ACCESS_TOKEN to a secret of at least 16 characters, or ROUTER_KEYS";

/** With its own reply server, a tier without a model takes the chat model that decides, if any. */
function readTierModels(
  values: Values,
  chatModel: string | undefined,
  tiers: RouterConfig["tiers"] = {},
): Record<Tier, string> {
  const tierEntries = tierNames.map((tier) => {
    const variableName = `ROUTER_MODEL_${tier.toUpperCase()}` as `ROUTER_MODEL_${Uppercase<Tier>}`;
    const usualModel = values.ROUTER_REPLY_BASE_URL === null ? defaultTierModels[tier] : chatModel;
    const model = tiers[tier]?.targets[0].model ?? values[variableName] ?? usualModel;
    if (model !== undefined) return [tier, model] as const;
    throw new CliError(
      `${variableName} is not set; ROUTER_REPLY_BASE_URL wants a model of its server for each tier, such as ${variableName}=qwen3:4b.`,
    );
  });
  return Object.fromEntries(tierEntries) as Record<Tier, string>;
}

function toReplyServer(values: Values): UpstreamOptions | null {
  const { ROUTER_REPLY_BASE_URL: replyUrl, AI_GATEWAY_API_KEY: gatewayKey } = values;
  const own = { apiKey: values.ROUTER_REPLY_API_KEY, keyVariable: "ROUTER_REPLY_API_KEY" };
  if (replyUrl) return { type: "openai-chat", name: "reply-server", baseUrl: replyUrl, ...own };
  if (gatewayKey === null) return null;
  const gatewayServer = { apiKey: gatewayKey, keyVariable: apiKeyVariables.gateway };
  return { type: "gateway", name: "gateway", baseUrl: values.EVALUATOR_BASE_URL, ...gatewayServer };
}

/** Secret parts of a database's address: all of it, its start up to the host, and its password. */
function addressSecrets(address: string | null): string[] {
  if (address?.includes("://") !== true) return []; // none, or a file
  const [addressStart, password] = /^\w+:\/\/[^:@/]*:([^@]*)@/.exec(address) ?? [];
  return [address, addressStart, password].filter((foundSecret) => foundSecret !== undefined);
}

function modelId(isGateway: boolean) {
  const error = `is not a model id; write it as provider/model, such as ${defaultTierModels.fast}`;
  return isGateway
    ? z.string().regex(/^[\x21-\x2e\x30-\x7e]*\/[\x21-\x7e]*$/, error)
    : z.string().regex(/^[\x21-\x7e]+$/, "is not a model id, such as qwen3:4b");
}
