import { apiKeyVariables } from "evaluator-client";
import { CliError, type Environment, isLoopbackHost, trimEnvironment } from "evaluator-kit";
import type { RoutingPolicy } from "./decision/decision.ts";
import { type Tier, tierNames } from "./decision/tier-question.ts";
import {
  defaultTierModels,
  keyNames,
  readVariables,
  type Settings,
} from "./environment-variables.ts";
import { type ReplyServer, transportUse } from "./services/connect-services.ts";

/** The options of a router. */
export type RouterOptions = ReturnType<typeof parseRouterOptions>;

/** Reads options; a blank variable is unset. @throws CliError that names the wrong variable. */
export function parseRouterOptions(given: Environment) {
  const env = trimEnvironment(given);
  const { server, policy, services, models } = readVariables(env);
  checkHost(server);
  const { limitsUrl: url, requestsPerMinute, decisionTimeoutMs, decisionMs } = services;
  const { fallbackModels, fallbackModel, shadowModel } = models;
  const use = transportUse(env["EVALUATOR_TRANSPORT"] ?? "gateway");
  const hasEvaluator =
    use === null || !use.isEmulatedWithoutKey || env[apiKeyVariables[use.name]] !== undefined;
  const chatModel = use?.asksChatModel === true ? env["EVALUATOR_MODEL_ID"] : undefined;
  return {
    ...server,
    tierModels: readTierModels({ services, models }, chatModel),
    policy: {
      ...policy,
      decisionTimeoutMs: decisionTimeoutMs ?? decisionMs,
      fallbackModels: fallbackModels ?? (fallbackModel === null ? [] : [fallbackModel]),
      shadowModel,
    } satisfies RoutingPolicy,
    engines: {
      evaluator: hasEvaluator ? given : null,
      reply: toReplyServer(services, given),
      secrets: [...keyNames.flatMap((name) => env[name] ?? []), ...addressSecrets(url)],
    },
    /** The limit that several routers share; null if this one has a key to itself. */
    sharedLimit: url === null ? null : { url, requestsPerMinute },
    hasTraces: hasTraces(env),
    warnings: decisionMs === null ? [] : [renamed],
  };
}

const renamed =
  "ROUTER_DECISION_MS is called ROUTER_DECISION_TIMEOUT_MS now; the old name is still read.";

function checkHost({ host, accessToken }: Settings["server"]): void {
  if (isLoopbackHost(host) || accessToken !== null) return;
  throw new CliError(
    `HOST=${JSON.stringify(host)} is not a loopback address: other machines could spend your credits here. Set ROUTER_ACCESS_TOKEN to a secret of at least 16 characters, or HOST to 127.0.0.1.`,
  );
}

/** With its own reply server, a tier without a model takes the chat model that decides, if any. */
function readTierModels(
  { services, models }: Pick<Settings, "services" | "models">,
  chatModel: string | undefined,
): Record<Tier, string> {
  const named = tierNames.map((tier) => {
    const unset = services.replyUrl === null ? defaultTierModels[tier] : chatModel;
    const model = models[tier] ?? unset;
    if (model !== undefined) return [tier, model] as const;
    const name = `ROUTER_MODEL_${tier.toUpperCase()}`;
    throw new CliError(
      `${name} is not set; ROUTER_REPLY_BASE_URL wants a model of its server for each tier, such as ${name}=qwen3:4b.`,
    );
  });
  return Object.fromEntries(named) as Record<Tier, string>;
}

function toReplyServer(
  { replyUrl, replyKey: apiKey, gatewayKey, gatewayUrl }: Settings["services"],
  env: Environment,
): ReplyServer | null {
  if (replyUrl !== null) return { kind: "openai-compatible", apiKey, baseUrl: replyUrl };
  if (gatewayKey === null) return null;
  return { kind: "gateway", apiKey: gatewayKey, baseUrl: gatewayUrl ?? undefined, env };
}

/** Secret parts of a database's address: all of it, its start up to the host, and its password. */
function addressSecrets(address: string | null): string[] {
  const [start, password] = /^\w+:\/\/[^:@/]*:([^@]*)@/.exec(address ?? "") ?? [];
  return [address ?? undefined, start, password].filter((secret) => secret !== undefined);
}

/** The OpenTelemetry packages read the other variables of their specification. */
function hasTraces(env: Environment): boolean {
  const address = env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] ?? env["OTEL_EXPORTER_OTLP_ENDPOINT"];
  const isOff = env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true";
  return address !== undefined && !isOff && env["OTEL_TRACES_EXPORTER"] !== "none";
}
