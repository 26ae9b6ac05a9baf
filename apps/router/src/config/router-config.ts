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
  const environment = trimEnvironment(givenEnvironment);
  const namedFile = environment["ROUTER_CONFIG"];
  const configFile = namedFile ?? "router.config.json";
  const place = namedFile === undefined ? configFile : `ROUTER_CONFIG=${namedFile}`;
  try {
    return parseRouterConfig(await readFile(resolve(cwd, configFile), "utf8"), place, environment);
  } catch (error) {
    if (namedFile === undefined && systemErrorCode(error) === "ENOENT") return null;
    throw toFileError(error, `read ${configFile}`, namedFile && "ROUTER_CONFIG names it.");
  }
}

function parseRouterConfig(fileText: string, place: string, environment: Environment) {
  const writtenConfig = parseJson(fileText, place) as WrittenConfig;
  const { data, error } = configSchema(writtenConfig, environment).safeParse(writtenConfig);
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
function parseJson(fileText: string, place: string): unknown {
  const jsonText = fileText.replace(/^\uFEFF/, "");
  try {
    return JSON.parse(jsonText);
  } catch (error) {
    const { line, column } = jsonErrorPlace(jsonText, error);
    throw toError(place, `the file is not JSON at line ${line} column ${column}`);
  }
}

/** Returns the first problem after the path of its field. */
export function describeIssue({ issues: [issue] }: z.ZodError, wholeName = "the file"): string {
  const unknownKey = issue?.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  const fieldPath = z.core.toDotPath([...(issue?.path ?? []), ...unknownKey]);
  return `${fieldPath || wholeName} ${issue?.message}`.trimStart();
}

/** The problem is cut: names in a file can be long. */
function toError(place: string, problem: string): CliError {
  return new CliError(printable`${place}: ${problem.slice(0, 300)}.`);
}

/** The parts of the file that other parts name. */
type WrittenConfig = { readonly upstreams?: object; readonly decisions?: unknown } | null;

/** Creates the schema of the file. The message of an issue continues after the path of its field. */
function configSchema(json: WrittenConfig, environment: Environment) {
  const upstreamNames = Object.keys(Object(json?.upstreams));
  const decisionCount = Array.isArray(json?.decisions) ? json.decisions.length : 1;
  const targetFields = { upstream: upstreamName(upstreamNames), model, price, ...capabilities };
  const fallbacks = listOf(fields(targetFields).transform(toTarget)).default([]);
  const tier = fields({ ...targetFields, fallbacks, ...limits })
    .transform(({ fallbacks, maxRetries, idleTimeoutMs, timeoutMs, ...firstTarget }) => {
      const timeLimits = withoutUndefined({ idleTimeoutMs, timeoutMs });
      return { targets: [toTarget(firstTarget), ...fallbacks] as const, maxRetries, ...timeLimits };
    })
    .exactOptional();
  return fields({
    upstreams: record(shortName, upstream(environment)),
    tiers: fields({ nano: tier, fast: tier, balanced: tier, frontier: tier }).default({}),
    aliases: record(model, model),
    decisions: listOf(decisionService(environment, decisionCount))
      .superRefine((serviceList, issueContext) => {
        const at = serviceList.findIndex((service, serviceIndex) => service.then === serviceIndex);
        const message = "is its own place; name another service";
        if (at >= 0) issueContext.addIssue({ code: "custom", path: [at, "then"], message });
        const isNamed = (place: number) => serviceList.some(({ then }) => then === place);
        const aloneIndex = serviceList.findIndex(
          ({ then, unsure }, place) => then === null && unsure !== null && !isNamed(place),
        );
        const missing = "is missing, and no then names this service";
        if (aloneIndex >= 0)
          issueContext.addIssue({ code: "custom", path: [aloneIndex, "then"], message: missing });
      })
      .default([]),
    models: record(model, place(decisionCount)),
  });
}

function place(serviceCount: number) {
  return wholeNumber(serviceCount - 1, "a place in decisions,");
}

const decisionServices = ["gateway", ...services] as const;

/** A service that answers typed questions. */
export type DecisionOptions = z.infer<ReturnType<typeof decisionService>>;

/** With a `baseUrl`, a key is sent only if `apiKeyEnv` names it: it belongs to the service's own address. */
function decisionService(environment: Environment, serviceCount: number) {
  return fields({
    /** The place of the service that is asked again for the unsure answers of this one. */
    // oxlint-disable-next-line unicorn/no-thenable -- the word of --then; the value is a number
    then: orNull(place(serviceCount)),
    /** When its answers are unsure; of a service that is asked again, it marks them. */
    unsure: orNull(
      z.union([unsureWord.transform((word) => [word]), z.array(unsureWord).min(1)], notUnsure),
    ),
    service: oneOf(decisionServices),
    model: orNull(model),
    apiKeyEnv: orNull(keyVariable(environment)),
    baseUrl: orNull(serverUrlSchema),
    accountId: orNull(
      z.string("is not a text").regex(/^[\x21-\x7e]{1,128}$/, "is not an account id"),
    ),
    price: orNull(fields({ input: tokenUsd }).transform(({ input }) => input)),
  }).transform(({ apiKeyEnv, ...settings }, context) => {
    const { service, baseUrl, then, unsure } = settings;
    const serviceRow = service === "gateway" ? null : serviceRows[service];
    const variables: readonly string[] = serviceRow?.keyVariables ?? [gatewayKey];
    const isOwn = apiKeyEnv === null && (baseUrl === null || serviceRow === null);
    const variable = isOwn ? variables.find((name) => environment[name]) : apiKeyEnv;
    const addProblem = (fieldName: string, message: string) =>
      context.addIssue({ code: "custom", path: [fieldName], message });
    if (isOwn && variable === undefined)
      addProblem("apiKeyEnv", `is missing, and ${variables.join(" or ")} is not set`);
    if (then !== null && unsure === null)
      addProblem("unsure", "is missing; then asks again for unsure answers");
    if (serviceRow !== null && serviceRow.model === null && settings.model === null)
      addProblem("model", "is missing");
    const needsAccount = serviceRow?.baseUrl.includes("{account}") === true && baseUrl === null;
    const accountId =
      settings.accountId ?? (needsAccount ? (environment["CLOUDFLARE_ACCOUNT_ID"] ?? null) : null);
    if (needsAccount && accountId === null) addProblem("accountId", "is missing");
    return { ...settings, accountId, apiKey: (variable && environment[variable]) ?? null };
  });
}

const notUnsure =
  "is not when an answer is unsure: 0.8, 0.2..0.8 or calibration, for one question as in refund=0.8";

/** When an answer is unsure, in the words of `--unsure`. */
const unsureWord = z.string(notUnsure).transform((writtenWord, context): UnsureWord => {
  const [, id = null, boundText = ""] = /^(?:(.+)=)?([^=]+)$/s.exec(writtenWord) ?? [];
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

function wholeNumber(mostValue: number, numberKind = "a whole number") {
  const problem = `is not ${numberKind} from 0 to ${mostValue}`;
  return z.int(problem).min(0, problem).max(mostValue, problem);
}

const upToADay = wholeNumber(86_400_000).exactOptional();
const limits = {
  maxRetries: wholeNumber(10).default(2),
  idleTimeoutMs: upToADay,
  timeoutMs: upToADay,
};

function upstreamName(upstreamNames: readonly string[]) {
  const problem = `is not one of upstreams: ${upstreamNames.join(", ") || "none is defined"}`;
  return z.enum(upstreamNames, {
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
  .refine((serverUrl) => {
    const { username, password, search, hash } = new URL(serverUrl);
    return `${username}${password}${search}${hash}` === "";
  }, notServer);

/** The schema of the address of a server with OpenAI's APIs. */
export const openAiUrlSchema = serverUrlSchema.transform((url) => toServerUrl(url, "openai-chat"));

function toServerUrl(serverUrl: string, upstreamType: UpstreamType): string {
  return upstreamTypes[upstreamType].toBaseUrl(new URL(serverUrl).href.replace(/(?<!\/)\/+$/, ""));
}

const { gateway: gatewayKey } = apiKeyVariables;
const upstreamTypeNames = Object.keys(upstreamTypes) as UpstreamType[];

function upstream(environment: Environment) {
  return fields({
    type: oneOf(upstreamTypeNames),
    baseUrl: orNull(serverUrlSchema),
    apiKeyEnv: orNull(keyVariable(environment)),
  }).transform(({ type, apiKeyEnv, ...settings }, context) => {
    const isGateway = type === "gateway";
    const keyVariable = apiKeyEnv ?? (isGateway ? gatewayKey : null);
    const apiKey = (keyVariable && environment[keyVariable]) ?? null;
    const gatewayUrl = (isGateway && environment["EVALUATOR_BASE_URL"]) || null;
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
function keyVariable(environment: Environment) {
  return z
    .string(notVariable)
    .regex(/^[A-Z][A-Z0-9_]{0,63}$/, { error: notVariable, abort: true })
    .superRefine((variable, context) => {
      const key = environment[variable];
      if (key === undefined) context.addIssue(`names ${variable}, which is not set`);
      else if (!/^[\x21-\x7e]+$/.test(key)) context.addIssue(`names ${variable}, which ${notKey}`);
    });
}
