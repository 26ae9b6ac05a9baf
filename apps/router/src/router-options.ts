import { z } from "zod";
import { defaultTierModels } from "./default-tier-models.ts";
import { isLoopback } from "./security/is-loopback.ts";
import { StartError } from "./start-error.ts";
import type { Tier } from "./tier-question.ts";

/** Environment variables by name, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** How to reach the gateway. */
export interface GatewayOptions {
  /** The gateway key. */
  readonly apiKey: string;
  /** Address in front of `/language-model`; the gateway's own when undefined. */
  readonly baseUrl: string | undefined;
  /** What `createEvaluator` reads its own options from. */
  readonly env: Environment;
}

/** What a person can set. */
export interface RouterOptions {
  /** A loopback address or name. @default "127.0.0.1" */
  readonly host: string;
  /** The port to listen on; 0 takes any free one. @default 3000 */
  readonly port: number;
  /** The text model id of each tier. */
  readonly tierModels: Readonly<Record<Tier, string>>;
  /** The gateway, or null when there is no key and the emulator answers. */
  readonly gateway: GatewayOptions | null;
}

const visibleAscii = /^[\x21-\x7e]+$/;

const environmentSchema = z.object({
  HOST: z
    .string()
    .default("127.0.0.1")
    .refine(isLoopback, "is not a loopback address; set it to 127.0.0.1, ::1 or localhost"),
  PORT: z
    .string()
    .default("3000")
    .refine(
      (text) => /^\d{1,5}$/.test(text) && Number(text) <= 65_535,
      "is not a port; set it to a whole number from 0 to 65535, such as PORT=3001",
    ),
  ROUTER_MODEL_NANO: modelId(defaultTierModels.nano),
  ROUTER_MODEL_FAST: modelId(defaultTierModels.fast),
  ROUTER_MODEL_BALANCED: modelId(defaultTierModels.balanced),
  ROUTER_MODEL_FRONTIER: modelId(defaultTierModels.frontier),
  AI_GATEWAY_API_KEY: z
    .string()
    .regex(visibleAscii, "has a space, a line break or another character that no key has")
    .optional(),
  EVALUATOR_BASE_URL: z
    .url({
      protocol: /^https?$/,
      error: "is not an http or https URL, such as https://example.com/v4/ai",
    })
    .optional(),
});

/**
 * Reads the router's options from environment variables; a blank one counts as unset.
 *
 * @throws StartError that names the first wrong variable.
 */
export function parseRouterOptions(env: Environment): RouterOptions {
  const { data, error } = environmentSchema.safeParse(trimmed(env));
  if (!data) throw new StartError(describeProblem(error, env));
  const { AI_GATEWAY_API_KEY: apiKey, EVALUATOR_BASE_URL: baseUrl } = data;
  return {
    host: data.HOST,
    port: Number(data.PORT),
    tierModels: {
      nano: data.ROUTER_MODEL_NANO,
      fast: data.ROUTER_MODEL_FAST,
      balanced: data.ROUTER_MODEL_BALANCED,
      frontier: data.ROUTER_MODEL_FRONTIER,
    },
    gateway: apiKey === undefined ? null : { apiKey, baseUrl, env },
  };
}

function modelId(fallback: string) {
  return z
    .string()
    .default(fallback)
    .refine(
      (id) => visibleAscii.test(id) && id.includes("/"),
      `is not a model id; write it as provider/model, such as ${fallback}`,
    );
}

function trimmed(env: Environment): Environment {
  const entries = Object.entries(env).map(([name, value]) => [name, value?.trim() || undefined]);
  return Object.fromEntries(entries);
}

function describeProblem(error: z.ZodError, env: Environment): string {
  const [issue] = error.issues;
  const name = String(issue?.path[0]);
  const shown = name === "AI_GATEWAY_API_KEY" ? name : `${name}=${JSON.stringify(env[name])}`;
  return `${shown} ${issue?.message}.`;
}
