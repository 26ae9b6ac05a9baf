import type { GatewayModelId } from "ai";
import { apiKeyVariables } from "evaluator-client";
import { z } from "zod";
import { contextModes } from "../decision/decision.ts";
import { type Tier, tierNames } from "../tier-question.ts";

/**
 * The gateway's text model for each tier, unless the environment names another. Their input prices
 * go from $0.05 to $10 per million tokens: 200 to 1 (contract section 4.6, rule 8).
 */
export const defaultTierModels = {
  nano: "openai/gpt-5-nano",
  fast: "google/gemini-3.1-flash-lite",
  balanced: "anthropic/claude-sonnet-5.5",
  frontier: "anthropic/claude-fable-5.1",
} as const satisfies Record<Tier, GatewayModelId>;

const visibleAscii = /^[\x21-\x7e]+$/;
const notReplyUrl =
  "is not an http or https URL without user name, password, query and fragment, such as http://127.0.0.1:11434/v1";

/** Every variable the router reads, each with what is printed when it is wrong. */
export const environmentSchema = z.object({
  HOST: z.string().default("127.0.0.1"),
  PORT: wholeNumber({
    from: 0,
    to: 65_535,
    error: "is not a port; set it to a whole number from 0 to 65535, such as PORT=3001",
  }).prefault("3000"),
  ROUTER_ACCESS_TOKEN: z
    .string()
    .min(16, "is short; set it to a secret of at least 16 characters")
    .regex(visibleAscii, "has a space, a line break or another character that no token has")
    .optional(),
  ROUTER_ALLOWED_HOSTS: z
    .string()
    .toLowerCase()
    .transform((names) => names.split(",").map((name) => name.trim()))
    .refine(
      (names) => names.every((name) => /^[a-z0-9.:[\]-]+$/.test(name)),
      "is not a list of host names, such as router.example.com,192.168.0.4:3000",
    )
    .optional(),
  ROUTER_MODEL_NANO: modelId().optional(),
  ROUTER_MODEL_FAST: modelId().optional(),
  ROUTER_MODEL_BALANCED: modelId().optional(),
  ROUTER_MODEL_FRONTIER: modelId().optional(),
  ROUTER_REPLY_BASE_URL: z
    .url({ protocol: /^https?$/, error: notReplyUrl, abort: true })
    .refine(hasNothingSecret, notReplyUrl)
    .transform(withVersion)
    .optional(),
  ROUTER_REPLY_API_KEY: key().optional(),
  ROUTER_MIN_CONFIDENCE: z.coerce
    .number("is not a number from 0 to 1, such as 0.6")
    .min(0, "is not a number from 0 to 1, such as 0.6")
    .max(1, "is not a number from 0 to 1, such as 0.6")
    .optional(),
  ROUTER_FAILURE_TIER: z
    .enum(tierNames, `is not a tier; set it to ${tierNames.join(", ")}`)
    .optional(),
  ROUTER_DECISION_TIMEOUT_MS: milliseconds().optional(),
  ROUTER_DECISION_MS: milliseconds().optional(), // its name before it said that it is a limit
  ROUTER_FALLBACK_MODELS: modelIds().optional(),
  ROUTER_FALLBACK_MODEL: modelId().optional(), // its name while it was only one
  ROUTER_SHADOW: modelId().optional(),
  ROUTER_TIES: z.enum(["up", "choice"], "is neither up nor choice").default("up"),
  ROUTER_CONTEXT: z.enum(contextModes, "is none of last, turns and sticky").default("sticky"),
  ROUTER_MODEL_ALIASES: aliases().optional(),
  ROUTER_CALIBRATION: z.string().optional(),
  ROUTER_MAX_CALLS: wholeNumber({
    from: 1,
    to: 10_000,
    error: "is not a number of calls; set it to a whole number from 1 to 10000, such as 64",
  }).prefault("64"),
  ROUTER_STALL_TIMEOUT_MS: milliseconds().prefault("20000"),
  ROUTER_LIMITS: z
    .string()
    .regex(
      /^postgres(?:ql)?:\/\//,
      "is not the address of a PostgreSQL database, such as postgres://user:password@host:5432/database",
    )
    .optional(),
  ROUTER_REQUESTS_PER_MINUTE: wholeNumber({
    from: 1,
    to: 999_999,
    error: "is not a number of requests; set it to a whole number from 1, such as 1200",
  }).optional(),
  ROUTER_INSTANCE: z
    .string()
    .regex(
      /^[\w.:-]{1,64}$/,
      "is not a name of up to 64 letters, digits and the signs . : _ -, such as router-1",
    )
    .optional(),
  ROUTER_DECISION_LOG: z.string().optional(),
  ROUTER_ACCESS_LOG: z.enum(["on", "off"], "is neither on nor off").default("on"),
  AI_GATEWAY_API_KEY: key().optional(),
  EVALUATOR_TRANSPORT: z.string().optional(), // the engine's own code says what is wrong with it
  EVALUATOR_MODEL_ID: z.string().optional(),
  EVALUATOR_DIRECT_API_KEY: z.string().optional(),
  EVALUATOR_LOGPROBS_API_KEY: z.string().optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.string().optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.string().optional(),
  OTEL_TRACES_EXPORTER: z
    .enum(["otlp", "none"], "is neither otlp nor none, which are what this router knows")
    .optional(),
  OTEL_SDK_DISABLED: z.string().optional(),
  EVALUATOR_BASE_URL: z
    .url({
      protocol: /^https?$/,
      error: "is not an http or https URL, such as https://example.com/v4/ai",
    })
    .optional(),
});

/** The names whose values are secret. */
export const secretNames: ReadonlySet<string> = new Set([
  ...Object.values(apiKeyVariables),
  "ROUTER_ACCESS_TOKEN",
  "ROUTER_LIMITS",
  "ROUTER_REPLY_API_KEY",
  "ROUTER_REPLY_BASE_URL", // people write user name and password into addresses
]);

function key() {
  const error = "has a space, a line break or another character that no key has";
  return z.string().regex(visibleAscii, error);
}

function modelId() {
  const error = `is not a model id, such as ${defaultTierModels.fast}`;
  return z.string().regex(visibleAscii, error);
}

function modelIds() {
  const error = `is not a list of model ids, such as ${defaultTierModels.balanced},${defaultTierModels.fast}`;
  return z
    .string()
    .transform((text) => text.split(",").map((id) => id.trim()))
    .refine((ids) => ids.every((id) => visibleAscii.test(id)), error);
}

/** Reads `name=target,…`; a target is `auto`, a tier or a model. */
function aliases() {
  const error = `is not a list of names and what they stand for, such as gpt-4o=auto,gpt-4o-mini=fast`;
  return z
    .string()
    .refine(
      (text) =>
        text.split(",").every((pair) => /^\s*[\x21-\x3c\x3e-\x7e]+=[\x21-\x7e]+\s*$/.test(pair)),
      error,
    )
    .transform(
      (text) =>
        new Map(
          text.split(",").map((pair) => {
            const [name = "", target = ""] = pair.trim().split(/=(.*)/s, 2);
            return [name, target] as const;
          }),
        ),
    );
}

function hasNothingSecret(url: string): boolean {
  const { username, password, search, hash } = new URL(url);
  return `${username}${password}${search}${hash}` === "";
}

/** People have a server's bare address at hand; OpenAI's API is under `/v1` there. */
function withVersion(url: string): string {
  const { href, pathname } = new URL(url);
  return pathname === "/" ? `${href}v1` : href.replace(/(?<!\/)\/+$/, "");
}

function milliseconds() {
  return wholeNumber({
    from: 1,
    to: 600_000,
    error: "is not a time; set it to milliseconds from 1 to 600000, such as 2000",
  });
}

function wholeNumber({ from, to, error }: { from: number; to: number; error: string }) {
  const isInRange = (text: string) =>
    /^\d{1,6}$/.test(text) && Number(text) >= from && Number(text) <= to;
  return z.string().refine(isInRange, error).transform(Number);
}
