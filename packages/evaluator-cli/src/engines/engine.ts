import type { Basis } from "evaluator-calibration/reports";
import {
  apiKeyVariables,
  type Catalog,
  type CatalogOptions,
  ConfigurationError,
  createCatalog,
  createEvaluator,
  directTransport,
  type DirectWire,
  type Evaluation,
  type Evaluator,
  EvaluatorError,
  gatewayTransport,
  logprobsTransport,
  type ServiceName,
  serviceRows,
  services,
  type Transport,
} from "evaluator-client";
import {
  CliError,
  type Environment,
  InvalidArgumentError,
  isLoopbackHost,
  printable,
  UsageError,
} from "evaluator-kit";
import { tokenPrice } from "evaluator-runs/commands";
import { type engineForms, readSetting } from "../commands/shared-options.ts";

type Kind = keyof typeof engineForms | ServiceName;
type Open = (typedOptions: Typed, env: Environment) => Transport;

const serviceTransports = services.map((service): [string, Open] => [
  service,
  (typedOptions, env) => openDirect({ service }, typedOptions, env),
]);

const transports: Readonly<Record<Kind, Open>> = {
  ...(Object.fromEntries(serviceTransports) as Record<ServiceName, Open>),
  gateway: (typedOptions, env) => {
    const { baseUrl, model: modelId, key } = typedOptions;
    const apiKey = key ?? (isKeyless(typedOptions, env) ? "none" : undefined);
    return gatewayTransport({ env, ...withoutUndefined({ baseUrl, modelId, apiKey }) });
  },
  direct: (typedOptions, env) => openDirect({ wire: "systemone" }, typedOptions, env),
  decisions: (typedOptions, env) => openDirect({ wire: "decisions" }, typedOptions, env),
  logprobs: ({ baseUrl, model, key: apiKey, price: usd }, env) => {
    const price = usd === undefined ? undefined : { inputUsdPerMillionTokens: usd };
    return logprobsTransport({ env, ...withoutUndefined({ baseUrl, model, apiKey, price }) });
  },
};

function openDirect(
  serverForm: { wire: DirectWire } | { service: ServiceName },
  typedOptions: Typed,
  env: Environment,
): Transport {
  const { baseUrl, model, key } = typedOptions;
  const apiKey = isKeyless(typedOptions, env) ? null : key;
  return directTransport({ env, ...serverForm, ...withoutUndefined({ baseUrl, model, apiKey }) });
}

/** Returns the fields that are not undefined. */
function withoutUndefined<TFields extends object>(fields: TFields) {
  const definedEntries = Object.entries(fields).filter(([, value]) => value !== undefined);
  type Given = { [TName in keyof TFields]?: Exclude<TFields[TName], undefined> };
  return Object.fromEntries(definedEntries) as Given;
}

/** One way to have questions answered. */
export type Engine = ReturnType<typeof readEngine>;

type Typed = ReturnType<typeof parseEngine>;

/**
 * Returns the typed engine, else the one that `EVALUATOR_TRANSPORT` names.
 *
 * @param orElse - What a command does without a key, after the advice to set one.
 */
export function readEngine(typedText: string | undefined, env: Environment, orElse = "") {
  const engineText = typedText ?? env["EVALUATOR_TRANSPORT"] ?? "gateway";
  const typedOptions = parseEngine(engineText, env);
  try {
    const openedTransport = transports[typedOptions.kind](typedOptions, env);
    // The vendor's limits do not apply to another address.
    const transport =
      typedOptions.baseUrl === undefined ? openedTransport : { ...openedTransport, limits: {} };
    const isLocal = isLoopbackUrl(transport.target?.url);
    return {
      /** The typed text. */
      name: engineText,
      transport,
      /** Whether it is at a loopback address, so that no state leaves this machine. */
      isLocal,
      /** Whether it is local, without a key and a price: a local proxy with a key may be paid. */
      isFree: isLocal && typedOptions.price === undefined && findApiKey(typedOptions, env) === null,
      /** Whether the service claims calibrated probabilities; not known at any other address. */
      calibration: toCalibration(transport),
      /** Whether the cost of an answer is known, from the service or from the typed price. */
      reportsCost: reportsCost(typedOptions, transport),
      /** The typed price of a million input tokens. */
      usdPerMillionTokens: typedOptions.price,
    };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const problem = printable`--engine ${engineText}: ${toAdvice(error, typedOptions, { env, orElse })}`;
    throw new UsageError(problem, { cause: error });
  }
}

function reportsCost({ kind, price }: Typed, transport: Transport): boolean {
  const isReported = isServiceKind(kind)
    ? serviceRows[kind].reportsCost === true
    : kind === "gateway";
  return isReported || price !== undefined || transport.usdPerMillionTokens !== undefined;
}

function isServiceKind(kind: Kind): kind is ServiceName {
  return Object.hasOwn(serviceRows, kind);
}

function toCalibration({
  name,
  target,
}: Transport): "claimed by the service" | "not calibrated" | "not known" {
  if (name === "logprobs") return "not calibrated";
  const { target: gatewayTarget } = gatewayTransport({ apiKey: "none", env: {} });
  const { target: directTarget } = directTransport({ apiKey: null, env: {} });
  const isServiceKind = [gatewayTarget, directTarget].some(
    (knownTarget) =>
      knownTarget?.url === target?.url &&
      findVendor(knownTarget?.modelId) === findVendor(target?.modelId),
  );
  return isServiceKind ? "claimed by the service" : "not known";
}

function findVendor(modelId = ""): string | undefined {
  return /^[^/]*\//.exec(modelId)?.[0];
}

function toAdvice(
  error: ConfigurationError,
  { kind }: Typed,
  { env, orElse }: { readonly env: Environment; readonly orElse: string },
): string {
  const { option, environmentVariable: variable, message } = error;
  const isMissing = option === "apiKey" && variable !== null && env[variable] === undefined;
  if (isMissing) return `a key is missing: set ${variable}${orElse}.`;
  if (option === "accountId") return `an account is missing: set ${variable}.`;
  return `${message} Type it as ${kind}=URL@MODEL.`;
}

/** The limits of a call that a person waits for; a laptop's model may need a minute for an attempt. */
export const callLimits = { maxRetries: 2, attemptTimeoutMs: 120_000, deadlineMs: 600_000 };

/** Returns an evaluator of an engine. */
export function toEvaluator({ transport }: Engine, env: Environment): Evaluator {
  return createEvaluator({ transport, env, ...callLimits });
}

/** Returns the gateway's catalog, at the address of its model; null for another engine. */
export function findCatalog(
  { transport: { name, target } }: Engine,
  options: Pick<CatalogOptions, "env" | "maxRetries" | "deadlineMs">,
): Catalog | null {
  if (name !== "gateway" || target === undefined) return null;
  return createCatalog({ ...options, baseUrl: target.url.slice(0, target.url.lastIndexOf("/")) });
}

/** Adds the engine's name to an error of the client. */
export function toEngineError(error: unknown, { name }: Engine): unknown {
  if (!(error instanceof EvaluatorError)) return error;
  return new CliError(printable`${name}: ${error.message}`, { cause: error });
}

/** Returns the basis of an emulator's answer, by its header; null for any other server. */
export function emulatedBasis(headers: Evaluation["headers"]): Basis | null {
  const emulatorHeader = String(headers["x-evaluator-emulator"] ?? "");
  const basis = /basis=(\w+)/.exec(emulatorHeader)?.[1];
  if (basis === undefined) return null;
  // The word matcher found no word if the basis is "none".
  return basis === "recorded" || basis === "rule" ? basis : "lexical";
}

function parseEngine(engineText: string, env: Environment) {
  const [address = "", ...settingTexts] = engineText.split(",");
  const addressMatch = /^([a-z]+(?:-[a-z]+)*)(?:=([^@]*))?(?:@(.+))?$/.exec(address);
  if (addressMatch === null || !Object.hasOwn(transports, addressMatch[1] ?? "")) {
    const engineKinds = Object.keys(transports);
    const kindList = `${engineKinds.slice(0, -1).join(", ")} or ${engineKinds.at(-1)}, such as logprobs=URL@MODEL`;
    throw new UsageError(printable`--engine ${engineText}: an engine is one of ${kindList}.`);
  }
  const [, kind, baseUrl, model] = addressMatch;
  const settingsByName = new Map(
    settingTexts.map((settingText) => settingText.split(/=(.*)/s, 2) as [string, string]),
  );
  for (const settingName of settingsByName.keys())
    readSetting(`--engine ${kind},`, settingName, checkSettingName);
  return {
    kind: kind as Kind,
    baseUrl: baseUrl === "" ? undefined : baseUrl,
    model,
    key: readApiKey(settingsByName.get("key"), env),
    price: readSetting("price", settingsByName.get("price"), tokenPrice),
  };
}

function checkSettingName(settingText: string): string {
  if (settingText === "key" || settingText === "price") return settingText;
  throw new InvalidArgumentError("Use key or price.");
}

function readApiKey(variable: string | undefined, env: Environment): string | null | undefined {
  if (variable === undefined) return undefined;
  if (variable === "none") return null;
  const apiKey = env[variable];
  if (apiKey !== undefined) return apiKey;
  throw new UsageError(printable`key=${variable} names an unset environment variable.`);
}

function findApiKey({ kind, key }: Typed, env: Environment): string | null {
  if (key !== undefined) return key;
  const variables = isServiceKind(kind)
    ? serviceRows[kind].keyVariables
    : [apiKeyVariables[kind === "decisions" ? "direct" : kind]];
  return variables.map((variable) => env[variable]?.trim()).find(Boolean) ?? null;
}

/** Most servers on this machine take no key. */
function isKeyless(typedOptions: Typed, env: Environment): boolean {
  if (typedOptions.key !== undefined) return typedOptions.key === null;
  return findApiKey(typedOptions, env) === null && isLoopbackUrl(typedOptions.baseUrl);
}

function isLoopbackUrl(url: string | undefined): boolean {
  const hostname = URL.parse(url ?? "")?.hostname;
  return hostname !== undefined && isLoopbackHost(hostname.replace(/^\[|\]$/g, ""));
}
