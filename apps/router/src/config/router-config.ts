import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { apiKeyVariables } from "evaluator-client";
import {
  CliError,
  describeSystemError,
  type Environment,
  printable,
  systemErrorCode,
  trimEnvironment,
} from "evaluator-kit";
import { z } from "zod";
import type { Tier } from "../decision/tier-question.ts";
import type { ReplyPlan, Target, Upstream } from "../reply/upstream.ts";
import { configSchema } from "./config-schema.ts";
import { withoutLastSlash, withVersion } from "./server-url.ts";

/** The services that reply, and the plans of the tiers, as a file configures them. */
export interface RouterConfig {
  readonly upstreams: readonly UpstreamConfig[];
  /** An absent tier is configured by the variables. */
  readonly tiers: Readonly<Partial<Record<Tier, TierConfig>>>;
  /** Further model names, each with its meaning: `auto`, a tier or a model. */
  readonly aliases: ReadonlyMap<string, string>;
}

/** How to reach a service. */
export interface UpstreamConfig extends Pick<Upstream, "name" | "type"> {
  /** Null for the gateway's own address. */
  readonly baseUrl: string | null;
  readonly apiKey: string | null;
  /** The environment variable of the key. */
  readonly keyVariable: string | null;
}

/** A reply plan that names its upstreams; an absent limit is that of the variables. */
export interface TierConfig extends Partial<Omit<ReplyPlan, "targets">> {
  readonly targets: readonly [TargetConfig, ...TargetConfig[]];
}

interface TargetConfig extends Omit<Target, "upstream"> {
  readonly upstream: string;
}

/**
 * Reads the file of `ROUTER_CONFIG`, or `router.config.json` in the working directory; null if there is
 * no such file. @throws CliError with the file and the path of a wrong field, without any key.
 */
export async function readRouterConfig(
  given: Environment,
  cwd: string,
): Promise<RouterConfig | null> {
  const env = trimEnvironment(given);
  const named = env["ROUTER_CONFIG"];
  const file = named ?? "router.config.json";
  try {
    return parseRouterConfig(await readFile(resolve(cwd, file), "utf8"), file, env);
  } catch (error) {
    const reason = describeSystemError(error);
    if (reason === null) throw error;
    if (named === undefined && systemErrorCode(error) === "ENOENT") return null;
    throw toError(file, `the file cannot be read: ${reason}`);
  }
}

function parseRouterConfig(text: string, file: string, env: Environment): RouterConfig {
  const json = parseJson(text, file) as { upstreams?: object } | null;
  const names = Object.keys(Object(json?.upstreams));
  const { data, error } = configSchema(names, env).safeParse(json);
  if (error !== undefined) throw toError(file, describeIssue(error));
  const tiers = Object.entries(data.tiers).map(([tier, plan]) => [tier, toTier(plan)]);
  return {
    upstreams: Object.entries(data.upstreams).map(([name, each]) => toUpstream(name, each, env)),
    tiers: Object.fromEntries(tiers) as RouterConfig["tiers"],
    aliases: new Map(Object.entries(data.aliases)),
  };
}

/** The message of `JSON.parse` can quote the file, and so a key. */
function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    const place = /line \d+ column \d+/.exec(String(error))?.[0];
    throw toError(file, `the file is not JSON${place === undefined ? "" : ` at ${place}`}`);
  }
}

/** Returns the first problem after the path of its field. */
function describeIssue({ issues: [issue] }: z.ZodError): string {
  const key = issue?.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  const path = z.core.toDotPath([...(issue?.path ?? []), ...key]);
  return `${path || "the file"} ${issue?.message}`;
}

/** The problem is cut: names in a file can be long. */
function toError(file: string, problem: string): CliError {
  return new CliError(printable`${file}: ${problem.slice(0, 300)}.`);
}

type ParsedFile = z.infer<ReturnType<typeof configSchema>>;

function toUpstream(
  name: string,
  { type, ...given }: ParsedFile["upstreams"][string],
  env: Environment,
): UpstreamConfig {
  const isGateway = type === "gateway";
  const baseUrl = given.baseUrl ?? (isGateway ? env["EVALUATOR_BASE_URL"] : null) ?? null;
  const keyVariable = given.apiKeyEnv ?? (isGateway ? apiKeyVariables.gateway : null);
  const apiKey = (keyVariable && env[keyVariable]) ?? null;
  return { name, type, baseUrl: baseUrl && toAddress(baseUrl, type), apiKey, keyVariable };
}

/** Servers have Anthropic's API at an address without `/v1`, which people write often. */
function toAddress(url: string, type: Upstream["type"]): string {
  if (type.startsWith("openai")) return withVersion(url);
  const address = withoutLastSlash(url);
  return type === "anthropic" ? address.replace(/\/v1$/, "") : address;
}

function toTier(plan: NonNullable<ParsedFile["tiers"][Tier]>): TierConfig {
  const { upstream, model, price, fallbacks, ...limits } = plan;
  return { targets: [{ upstream, model, price }, ...fallbacks], ...limits };
}
