import {
  CliError,
  type Environment,
  isLoopbackHost,
  parseWords,
  readPositionals,
  trimEnvironment,
} from "evaluator-cli-kit";
import type { z } from "zod";
import type { RoutingPolicy } from "../decision/decision.ts";
import type { GatewayOptions } from "../services/services.ts";
import type { Tier } from "../tier-question.ts";
import { environmentSchema, secretNames } from "./environment-schema.ts";

/** What a person can set. */
export interface RouterOptions {
  /** The address to listen on. @default "127.0.0.1" */
  readonly host: string;
  /** The port to listen on; 0 takes any free one. @default 3000 */
  readonly port: number;
  /** What a client must show; never null where other machines can reach the router. */
  readonly accessToken: string | null;
  /** Further names the router answers to, with or without a port. */
  readonly allowedNames: readonly string[];
  /** The text model id of each tier. */
  readonly tierModels: Readonly<Record<Tier, string>>;
  readonly policy: RoutingPolicy;
  /** Calls that ask a model at once, at most. @default 64 */
  readonly maxCallsInFlight: number;
  /**
   * Time a client may leave its answer unread before it is cut off, in milliseconds; within twice
   * of it, its slot is free and the model's call is ended. @default 20000
   */
  readonly stallMs: number;
  /** The file each message's record is added to, or null for none. */
  readonly decisionLog: string | null;
  /** Whether each response is printed as one line. @default true */
  readonly hasAccessLog: boolean;
  /** The gateway, or null when there is no key and the emulator answers. */
  readonly gateway: GatewayOptions | null;
  /** What a person should change in the settings, one line each. */
  readonly warnings: readonly string[];
}

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
export function parseRouterOptions(env: Environment): RouterOptions {
  const { data, error } = environmentSchema.safeParse(trimEnvironment(env));
  if (!data) throw new CliError(describeProblem(error, env));
  checkHost(data);
  return {
    host: data.HOST,
    port: data.PORT,
    accessToken: data.ROUTER_ACCESS_TOKEN ?? null,
    allowedNames: data.ROUTER_ALLOWED_HOSTS ?? [],
    tierModels: {
      nano: data.ROUTER_MODEL_NANO,
      fast: data.ROUTER_MODEL_FAST,
      balanced: data.ROUTER_MODEL_BALANCED,
      frontier: data.ROUTER_MODEL_FRONTIER,
    },
    policy: {
      minConfidence: data.ROUTER_MIN_CONFIDENCE ?? null,
      failureTier: data.ROUTER_FAILURE_TIER ?? null,
      decisionTimeoutMs: data.ROUTER_DECISION_TIMEOUT_MS ?? data.ROUTER_DECISION_MS ?? null,
      fallbackModel: data.ROUTER_FALLBACK_MODEL ?? null,
    },
    maxCallsInFlight: data.ROUTER_MAX_CALLS,
    stallMs: data.ROUTER_STALL_TIMEOUT_MS,
    decisionLog: data.ROUTER_DECISION_LOG ?? null,
    hasAccessLog: data.ROUTER_ACCESS_LOG === "on",
    gateway: readGateway(data, env),
    warnings: data.ROUTER_DECISION_MS === undefined ? [] : [renamed],
  };
}

const renamed =
  "ROUTER_DECISION_MS is called ROUTER_DECISION_TIMEOUT_MS now; the old name is still read.";

function readGateway(data: z.infer<typeof environmentSchema>, env: Environment) {
  const { AI_GATEWAY_API_KEY: apiKey, EVALUATOR_BASE_URL: baseUrl } = data;
  return apiKey === undefined ? null : { apiKey, baseUrl, env };
}

function checkHost({ HOST, ROUTER_ACCESS_TOKEN }: z.infer<typeof environmentSchema>): void {
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
