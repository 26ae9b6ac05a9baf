import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import {
  CliError,
  type Environment,
  jsonErrorPlace,
  printable,
  systemErrorCode,
  toFileError,
  trimEnvironment,
} from "evaluator-kit";
import { z } from "zod";
import { apiKeyVariables, serviceRows, services } from "evaluator-client";
import { type Bound, boundFrom } from "evaluator-client/escalate";
import { withoutUndefined } from "../conversation/conversation.ts";
import { fields, listOf, oneOf, orNull, record, shortName } from "./fields.ts";
import { capabilities, price, toTarget, tokenUsd } from "./target-schema.ts";
import { type UpstreamType, upstreamTypes } from "../conversation/upstream-types.ts";

/** The services that reply, and the plans of the tiers, as a file configures them. */
export type RouterConfig = ReturnType<typeof parseRouterConfig>;

/** Reads the file of `ROUTER_CONFIG`, else an existing `router.config.json`. @throws CliError with a wrong field. */
export async function readRouterConfig(givenEnvironment: Environment, cwd: string) {
  const env = trimEnvironment(givenEnvironment);
  const namedFile = env["ROUTER_CONFIG"];
  const file = namedFile ?? "router.config.json";
  const place = namedFile === undefined ? file : `ROUTER_CONFIG=${namedFile}`;
  try {
    return parseRouterConfig(await readFile(resolve(cwd, file), "utf8"), place, env);
  } catch (error) {
    if (namedFile === undefined && systemErrorCode(error) === "ENOENT") return null;
    throw toFileError(error, `read ${file}`, namedFile && "ROUTER_CONFIG names it.");
  }
}

function parseRouterConfig(text: string, place: string, env: Environment) {
  const json = parseJson(text, place) as WrittenConfig;
  const { data, error } = configSchema(json, env).safeParse(json);
  if (error !== undefined) throw toError(place, describeIssue(error));
  return {
    upstreams: new Map(Object.entries(data.upstreams)),
    keys: [...Object.values(data.upstreams), ...data.decisions].flatMap(
      ({ apiKey }) => apiKey ?? [],
    ),
    /** Plans that name their upstreams; absent tiers and limits are those of the variables. */
    tiers: data.tiers,
    /** Further model names, each with its meaning: `auto`, a tier or a model. */
    aliases: new Map(Object.entries(data.aliases)),
    /** The services that answer typed questions, in the order in which they are asked. */
    decisions: data.decisions,
    /** Places in that list by the names that clients give to models. */
    models: new Map(Object.entries(data.models)),
  };
}

/** The message of `JSON.parse` can quote the file, and so a key. */
function parseJson(text: string, place: string): unknown {
  const json = text.replace(/^\uFEFF/, "");
  try {
    return JSON.parse(json);
  } catch (error) {
    const { line, column } = jsonErrorPlace(json, error);
    throw toError(place, `the file is not JSON at line ${line} column ${column}`);
  }
}

/** Returns the first problem after the path of its field. */
export function describeIssue({ issues: [issue] }: z.ZodError, whole = "the file"): string {
  const key = issue?.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  const path = z.core.toDotPath([...(issue?.path ?? []), ...key]);
  return `${path || whole} ${issue?.message}`.trimStart();
}

/** The problem is cut: names in a file can be long. */
function toError(place: string, problem: string): CliError {
  return new CliError(printable`${place}: ${problem.slice(0, 300)}.`);
}

/** The parts of the file that other parts name. */
type WrittenConfig = { readonly upstreams?: object; readonly decisions?: unknown } | null;

/** Creates the schema of the file. The message of an issue continues after the path of its field. */
function configSchema(json: WrittenConfig, env: Environment) {
  const names = Object.keys(Object(json?.upstreams));
  const decisionCount = Array.isArray(json?.decisions) ? json.decisions.length : 1;
  const target = { upstream: upstreamName(names), model, price, ...capabilities };
  const fallbacks = listOf(fields(target).transform(toTarget)).default([]);
  const tier = fields({ ...target, fallbacks, ...limits })
    .transform(({ fallbacks, maxRetries, idleTimeoutMs, timeoutMs, ...first }) => {
      const waiting = withoutUndefined({ idleTimeoutMs, timeoutMs });
      return { targets: [toTarget(first), ...fallbacks] as const, maxRetries, ...waiting };
    })
    .exactOptional();
  return fields({
    upstreams: record(shortName, upstream(env)),
    tiers: fields({ nano: tier, fast: tier, balanced: tier, frontier: tier }).default({}),
    aliases: record(model, model),
    decisions: listOf(decisionService(env, decisionCount))
      .superRefine((list, context) => {
        const at = list.findIndex((service, place) => service.then === place);
        const message = "is its own place; name another service";
        if (at >= 0) context.addIssue({ code: "custom", path: [at, "then"], message });
        const isNamed = (place: number) => list.some(({ then }) => then === place);
        const alone = list.findIndex(
          ({ then, unsure }, place) => then === null && unsure !== null && !isNamed(place),
        );
        const missing = "is missing, and no then names this service";
        if (alone >= 0)
          context.addIssue({ code: "custom", path: [alone, "then"], message: missing });
      })
      .default([]),
    models: record(model, place(decisionCount)),
  });
}

function place(count: number) {
  return wholeNumber(count - 1, "a place in decisions,");
}

const decisionServices = ["gateway", ...services] as const;

/** A service that answers typed questions. */
export type DecisionOptions = z.infer<ReturnType<typeof decisionService>>;

/** With a `baseUrl`, a key is sent only if `apiKeyEnv` names it: it belongs to the service's own address. */
function decisionService(env: Environment, count: number) {
  return fields({
    /** The place of the service that is asked again for the unsure answers of this one. */
    // oxlint-disable-next-line unicorn/no-thenable -- the word of --then; the value is a number
    then: orNull(place(count)),
    /** When its answers are unsure; of a service that is asked again, it marks them. */
    unsure: orNull(
      z.union([unsureWord.transform((word) => [word]), z.array(unsureWord).min(1)], notUnsure),
    ),
    service: oneOf(decisionServices),
    model: orNull(model),
    apiKeyEnv: orNull(keyVariable(env)),
    baseUrl: orNull(serverUrlSchema),
    accountId: orNull(
      z.string("is not a text").regex(/^[\x21-\x7e]{1,128}$/, "is not an account id"),
    ),
    price: orNull(fields({ input: tokenUsd }).transform(({ input }) => input)),
  }).transform(({ apiKeyEnv, ...settings }, context) => {
    const { service, baseUrl, then, unsure } = settings;
    const row = service === "gateway" ? null : serviceRows[service];
    const variables: readonly string[] = row?.keyVariables ?? [gatewayKey];
    const isOwn = apiKeyEnv === null && (baseUrl === null || row === null);
    const variable = isOwn ? variables.find((name) => env[name]) : apiKeyEnv;
    const problem = (path: string, message: string) =>
      context.addIssue({ code: "custom", path: [path], message });
    if (isOwn && variable === undefined)
      problem("apiKeyEnv", `is missing, and ${variables.join(" or ")} is not set`);
    if (then !== null && unsure === null)
      problem("unsure", "is missing; then asks again for unsure answers");
    if (row !== null && row.model === null && settings.model === null)
      problem("model", "is missing");
    const needsAccount = row?.baseUrl.includes("{account}") === true && baseUrl === null;
    const accountId =
      settings.accountId ?? (needsAccount ? (env["CLOUDFLARE_ACCOUNT_ID"] ?? null) : null);
    if (needsAccount && accountId === null) problem("accountId", "is missing");
    return { ...settings, accountId, apiKey: (variable && env[variable]) ?? null };
  });
}

const notUnsure =
  "is not when an answer is unsure: 0.8, 0.2..0.8 or calibration, for one question as in refund=0.8";

/** When an answer is unsure, in the words of `--unsure`. */
const unsureWord = z.string(notUnsure).transform((text, context): UnsureWord => {
  const [, id = null, boundText = ""] = /^(?:(.+)=)?([^=]+)$/s.exec(text) ?? [];
  const bound = boundText === "calibration" ? boundText : boundFrom(boundText);
  if (bound !== null) return { id, bound };
  context.addIssue(notUnsure);
  return z.NEVER;
});

/** A bound of one question, or of all; `calibration` is the promise of an artifact for the questions of a call. */
export interface UnsureWord {
  readonly id: string | null;
  readonly bound: Bound | "calibration";
}

function wholeNumber(max: number, kind = "a whole number") {
  const problem = `is not ${kind} from 0 to ${max}`;
  return z.int(problem).min(0, problem).max(max, problem);
}

const upToADay = wholeNumber(86_400_000).exactOptional();
const limits = {
  maxRetries: wholeNumber(10).default(2),
  idleTimeoutMs: upToADay,
  timeoutMs: upToADay,
};

function upstreamName(names: readonly string[]) {
  const problem = `is not one of upstreams: ${names.join(", ") || "none is defined"}`;
  return z.enum(names, {
    error: ({ input }) =>
      typeof input === "string" ? `${JSON.stringify(input)} ${problem}` : problem,
  });
}

const notModel = "is not the name of a model, such as qwen3:4b";
const model = z.string(notModel).regex(/^[\x21-\x7e]{1,256}$/, notModel);

const notServer =
  "is not an http or https URL without user name, password, query and fragment, such as http://127.0.0.1:11434/v1";

/** An address holds no secret. */
const serverUrlSchema = z
  .url({ protocol: /^https?$/, error: notServer, abort: true })
  .refine((url) => {
    const { username, password, search, hash } = new URL(url);
    return `${username}${password}${search}${hash}` === "";
  }, notServer);

/** The schema of the address of a server with OpenAI's APIs. */
export const openAiUrlSchema = serverUrlSchema.transform((url) => toServerUrl(url, "openai-chat"));

function toServerUrl(url: string, type: UpstreamType): string {
  return upstreamTypes[type].toBaseUrl(new URL(url).href.replace(/(?<!\/)\/+$/, ""));
}

const { gateway: gatewayKey } = apiKeyVariables;
const types = Object.keys(upstreamTypes) as UpstreamType[];

function upstream(env: Environment) {
  return fields({
    type: oneOf(types),
    baseUrl: orNull(serverUrlSchema),
    apiKeyEnv: orNull(keyVariable(env)),
  }).transform(({ type, apiKeyEnv, ...settings }, context) => {
    const isGateway = type === "gateway";
    const keyVariable = apiKeyEnv ?? (isGateway ? gatewayKey : null);
    const apiKey = (keyVariable && env[keyVariable]) ?? null;
    const gatewayUrl = (isGateway && env["EVALUATOR_BASE_URL"]) || null;
    const baseUrl = settings.baseUrl === null ? gatewayUrl : toServerUrl(settings.baseUrl, type);
    if (isGateway && apiKey === null) {
      const message = `is missing, and ${gatewayKey} is not set`;
      context.addIssue({ code: "custom", path: ["apiKeyEnv"], message });
    }
    if (!isGateway && baseUrl === null) {
      context.addIssue({ code: "custom", path: ["baseUrl"], message: "is missing" });
    }
    // Null is the gateway's own address.
    return { type, baseUrl, apiKey, keyVariable };
  });
}

const notVariable = "is not the name of an environment variable, such as CLAUDE_KEY";
const notKey = "has a space, a line break or another character that no key has";

/** A value that is not a name is not shown: people write the key here. */
function keyVariable(env: Environment) {
  return z
    .string(notVariable)
    .regex(/^[A-Z][A-Z0-9_]{0,63}$/, { error: notVariable, abort: true })
    .superRefine((variable, context) => {
      const key = env[variable];
      if (key === undefined) context.addIssue(`names ${variable}, which is not set`);
      else if (!/^[\x21-\x7e]+$/.test(key)) context.addIssue(`names ${variable}, which ${notKey}`);
    });
}
