import type { GatewayModelId } from "ai";
import { apiKeyVariables } from "evaluator-client";
import { CliError, type Environment } from "evaluator-kit";
import { z } from "zod";
import { contextModes } from "./decision/decision.ts";
import { type Tier, tierNames } from "./decision/tier-question.ts";

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

/** A message of the schema follows the name and the value. @default null */
type Variable = readonly [name: string, schema: z.ZodType, unset?: unknown];

const serverVariables = {
  host: ["HOST", z.string(), "127.0.0.1"],
  /** 0 takes any free port. */
  port: ["PORT", wholeNumber("port", { max: 65_535, example: "PORT=3001" }), 3000],
  accessToken: [
    "ROUTER_ACCESS_TOKEN",
    z
      .string()
      .min(16, "is short; set it to a secret of at least 16 characters")
      .regex(/^[\x21-\x7e]+$/, "has a space, a line break or another character that no token has"),
  ],
  /** Further host names of the router, with or without a port. */
  allowedNames: [
    "ROUTER_ALLOWED_HOSTS",
    z
      .string()
      .toLowerCase()
      .pipe(list())
      .refine(
        (names) => names.every((name) => /^[a-z0-9.:[\]-]+$/.test(name)),
        "is not a list of host names, such as router.example.com,192.168.0.4:3000",
      ),
    [],
  ],
  context: ["ROUTER_CONTEXT", z.enum(contextModes, "is none of last, turns and sticky"), "sticky"],
  /** Further model names, each with its meaning: `auto`, a tier or a model. */
  aliases: ["ROUTER_MODEL_ALIASES", aliases(), new Map<string, string>()],
  maxCallsInFlight: [
    "ROUTER_MAX_CALLS",
    wholeNumber("number of calls", { min: 1, max: 10_000, example: "64" }),
    64,
  ],
  /** Time a client may leave its answer unread. */
  stallMs: ["ROUTER_STALL_TIMEOUT_MS", milliseconds(), 20_000],
  calibrationFile: ["ROUTER_CALIBRATION", z.string()],
  decisionLog: ["ROUTER_DECISION_LOG", z.string()],
  hasAccessLog: [
    "ROUTER_ACCESS_LOG",
    z.enum(["on", "off"], "is neither on nor off").transform((value) => value === "on"),
    true,
  ],
  /** The router's name in the decision log. */
  instance: [
    "ROUTER_INSTANCE",
    matching(
      /^[\w.:-]{1,64}$/,
      "is not a name of up to 64 letters, digits and the signs . : _ -, such as router-1",
    ),
  ],
} as const satisfies Record<string, Variable>;

const notConfidence = "is not a number from 0 to 1, such as 0.6";

const policyVariables = {
  minConfidence: [
    "ROUTER_MIN_CONFIDENCE",
    z.coerce.number(notConfidence).min(0, notConfidence).max(1, notConfidence),
  ],
  failureTier: [
    "ROUTER_FAILURE_TIER",
    z.enum(tierNames, `is not a tier; set it to ${tierNames.join(", ")}`),
  ],
  ties: ["ROUTER_TIES", z.enum(["up", "choice"], "is neither up nor choice"), "up"],
} as const satisfies Record<string, Variable>;

const notReplyUrl =
  "is not an http or https URL without user name, password, query and fragment, such as http://127.0.0.1:11434/v1";

const serviceVariables = {
  replyUrl: [
    "ROUTER_REPLY_BASE_URL",
    z
      .url({ protocol: /^https?$/, error: notReplyUrl, abort: true })
      .refine(hasNothingSecret, notReplyUrl)
      .transform(withVersion),
  ],
  replyKey: ["ROUTER_REPLY_API_KEY", key()],
  gatewayKey: ["AI_GATEWAY_API_KEY", key()],
  gatewayUrl: [
    "EVALUATOR_BASE_URL",
    z.url({
      protocol: /^https?$/,
      error: "is not an http or https URL, such as https://example.com/v4/ai",
    }),
  ],
  decisionTimeoutMs: ["ROUTER_DECISION_TIMEOUT_MS", milliseconds()],
  decisionMs: ["ROUTER_DECISION_MS", milliseconds()], // its old name
  limitsUrl: [
    "ROUTER_LIMITS",
    matching(
      /^postgres(?:ql)?:\/\//,
      "is not the address of a PostgreSQL database, such as postgres://user:password@host:5432/database",
    ),
  ],
  requestsPerMinute: [
    "ROUTER_REQUESTS_PER_MINUTE",
    wholeNumber("number of requests", { min: 1, max: 999_999, example: "1200" }),
  ],
  tracesExporter: [
    "OTEL_TRACES_EXPORTER",
    z.enum(["otlp", "none"], "is neither otlp nor none, the values that this router supports"),
  ],
} as const satisfies Record<string, Variable>;

const modelVariables = (model: ReturnType<typeof modelId>) =>
  ({
    nano: ["ROUTER_MODEL_NANO", model],
    fast: ["ROUTER_MODEL_FAST", model],
    balanced: ["ROUTER_MODEL_BALANCED", model],
    frontier: ["ROUTER_MODEL_FRONTIER", model],
    fallbackModels: ["ROUTER_FALLBACK_MODELS", list().pipe(z.array(model))],
    fallbackModel: ["ROUTER_FALLBACK_MODEL", model], // its old name
    shadowModel: ["ROUTER_SHADOW", model],
  }) as const satisfies Record<string, Variable>;

/** The values of all variables, by group. */
export type Settings = ReturnType<typeof readVariables>;

/** Reads the variables. @throws CliError that names the first wrong one. */
export function readVariables(env: Environment) {
  const server = read(serverVariables, env);
  const policy = read(policyVariables, env);
  const services = read(serviceVariables, env);
  const models = read(modelVariables(modelId(services.replyUrl === null)), env);
  return { server, policy, services, models };
}

type Values<TVariables extends Record<string, Variable>> = {
  -readonly [TOption in keyof TVariables]:
    | z.output<TVariables[TOption][1]>
    | (TVariables[TOption] extends readonly [unknown, unknown, infer TUnset] ? TUnset : null);
};

function read<TVariables extends Record<string, Variable>>(
  variables: TVariables,
  env: Environment,
): Values<TVariables> {
  const values = Object.entries(variables).map(([option, [name, schema, unset = null]]) => {
    if (env[name] === undefined) return [option, unset] as const;
    const { data, error } = schema.safeParse(env[name]);
    if (error === undefined) return [option, data] as const;
    const shown = secretNames.has(name) ? name : `${name}=${JSON.stringify(env[name])}`;
    throw new CliError(`${shown} ${error.issues[0]?.message}.`);
  });
  return Object.fromEntries(values) as Values<TVariables>;
}

/** The variables that hold a key. */
export const keyNames: readonly string[] = [
  ...Object.values(apiKeyVariables),
  "ROUTER_REPLY_API_KEY",
];

const secretNames: ReadonlySet<string> = new Set([
  ...keyNames,
  "ROUTER_ACCESS_TOKEN",
  "ROUTER_LIMITS",
  "ROUTER_REPLY_BASE_URL", // people write user name and password into addresses
]);

function matching(pattern: RegExp, error: string) {
  return z.string().regex(pattern, error);
}

function key() {
  const error = "has a space, a line break or another character that no key has";
  return matching(/^[\x21-\x7e]+$/, error);
}

function modelId(isGateway: boolean) {
  const error = `is not a model id; write it as provider/model, such as ${defaultTierModels.fast}`;
  return isGateway
    ? matching(/^[\x21-\x2e\x30-\x7e]*\/[\x21-\x7e]*$/, error)
    : matching(/^[\x21-\x7e]+$/, "is not a model id, such as qwen3:4b");
}

function list() {
  return z.string().transform((text) => text.split(",").map((word) => word.trim()));
}

/** Parses `name=meaning,…`. */
function aliases() {
  const pattern = /^\s*([\x21-\x3c\x3e-\x7e]+)=([\x21-\x7e]+)\s*$/;
  const error = "is not a list of names and their meanings, such as gpt-4o=auto,gpt-4o-mini=fast";
  return z
    .string()
    .transform((text) => text.split(",").map((pair) => pattern.exec(pair)))
    .refine((pairs) => pairs.every((pair) => pair !== null), error)
    .transform((pairs) => new Map(pairs.map((pair) => [pair?.[1] ?? "", pair?.[2] ?? ""])));
}

function hasNothingSecret(url: string): boolean {
  const { username, password, search, hash } = new URL(url);
  return `${username}${password}${search}${hash}` === "";
}

/** Adds `/v1` to a bare address: servers with OpenAI's API have it there. */
function withVersion(url: string): string {
  const { href, pathname } = new URL(url);
  return pathname === "/" ? `${href}v1` : href.replace(/(?<!\/)\/+$/, "");
}

function milliseconds() {
  return wholeNumber("time", { min: 1, max: 600_000, example: "2000" }, "milliseconds");
}

function wholeNumber(
  name: string,
  { min = 0, max, example }: { min?: number; max: number; example: string },
  of = "a whole number",
) {
  return z
    .string()
    .refine(
      (text) => /^\d{1,6}$/.test(text) && Number(text) >= min && Number(text) <= max,
      `is not a ${name}; set it to ${of} from ${min} to ${max}, such as ${example}`,
    )
    .transform(Number);
}
