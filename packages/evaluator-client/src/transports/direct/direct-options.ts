import { type Environment, modelVariable, programEnvironment } from "../../environment.ts";
import { rejectOption } from "../../options.ts";
import { quoteName } from "../../questions/json.ts";
import {
  checkHeaderText,
  mergeHeaders,
  missingOption,
  readBaseUrl,
  readServer,
  type TransportOptions,
} from "../post-transport.ts";
import { noteOfOtherKey } from "./other-keys.ts";
import { byModel } from "./service-rules.ts";
import { type ServiceName, type ServiceRow, serviceRows, services } from "./services.ts";

/** The options that decide where requests go; `DirectTransportOptions` describes them. */
interface ServerOptions extends TransportOptions {
  readonly accountId?: string | undefined;
  readonly apiKey?: string | null | undefined;
  readonly baseUrl?: string | undefined;
  readonly path?: string | undefined;
  readonly model?: string | undefined;
  readonly longContext?: boolean | undefined;
}

/** The form's own path, and what a server without a row falls back to. */
interface ServerDefaults {
  readonly path: string;
  readonly baseUrl?: string;
  readonly model?: string;
}

const accountVariable = "CLOUDFLARE_ACCOUNT_ID";

/** Returns the row of a service, or undefined for none. @throws ConfigurationError for an unknown one */
export function findRow(service: ServiceName | undefined): ServiceRow | undefined {
  if (service === undefined || Object.hasOwn(serviceRows, service))
    return service && serviceRows[service];
  const advice = "for any other server, set baseUrl, path and wire";
  return rejectOption("service", `is none of ${services.join(", ")}; ${advice}`);
}

/** Returns the URL, model, key and headers of a server. @throws ConfigurationError if one is missing or wrong */
export function readDirectOptions(
  options: ServerOptions,
  defaults: ServerDefaults,
  row: ServiceRow | undefined,
) {
  const { path = defaults.path } = options;
  if (!/^\/[^?#\s]*$/.test(path))
    rejectOption(
      "path",
      'does not begin with "/", or has a query or fragment; write it as in /v1/systemone',
    );
  if (row !== undefined) return withContext(readService(options, path, row), options, row);
  const server = readServer("direct", options, { ...defaults, noteOfOtherKey });
  const isVendor = server.baseUrl === defaults.baseUrl;
  if (isVendor) checkModelIsOfVendor(server.model);
  const whole = { ...server, url: withoutRepeat(server.baseUrl, path) + path };
  return withContext(whole, options, isVendor ? serviceRows.typesafe : undefined);
}

// Its limit for a request and for a question (third parties' clients; unverified).
const LONG_CONTEXT = { tokens: 262_144, header: "TypeSafe-Danger-Zone-Long-Context" };

/** Returns a server with the most tokens of a state that it reads, undefined if that is unknown. */
function withContext<TServer extends { readonly model: string; readonly headers: object }>(
  server: TServer,
  { longContext = false }: ServerOptions,
  { title, contexts = {} }: Partial<ServiceRow> = {},
) {
  if (longContext && title !== serviceRows.typesafe.title)
    rejectOption("longContext", `works only with ${serviceRows.typesafe.title}; leave it out`);
  if (!longContext) return { ...server, mostStateTokens: byModel(contexts, server.model) };
  const message = `longContext is an experiment of ${title}: its answers are slower and less accurate, and a calibration without it does not hold.`;
  const warning = { type: "EvaluatorWarning", code: "EVALUATOR_LONG_CONTEXT" };
  globalThis.process?.emitWarning?.(message, warning);
  const headers = { ...server.headers, [LONG_CONTEXT.header]: "true" };
  return { ...server, headers, mostStateTokens: LONG_CONTEXT.tokens };
}

function readService(options: ServerOptions, path: string, row: ServiceRow) {
  const { env = programEnvironment() } = options;
  const model = readModel(options, row, env);
  const apiKey = options.apiKey === null ? null : readKey(options, row, env);
  const authorization = row.keyHeader === undefined ? `Bearer ${apiKey}` : apiKey;
  const key =
    apiKey === null ? {} : { [row.keyHeader ?? "Authorization"]: authorization as string };
  const own = { ...key, "Content-Type": "application/json" };
  const template = withoutRepeat(readAddress(options, row), path) + path;
  const account = template.includes("{account}") ? readAccount(options, row, env) : "";
  const url = template
    .replace("{account}", () => encodeURIComponent(account))
    .replace("{model}", () => encodeURIComponent(model));
  return { apiKey, url, model, headers: mergeHeaders(own, options.headers) };
}

/** Returns the address; one without a path has the service's own, so that one address serves all. */
function readAddress({ baseUrl }: ServerOptions, row: ServiceRow): string {
  if (baseUrl === undefined) return row.baseUrl;
  const address = readBaseUrl({ baseUrl }, { variable: null });
  const ownPath = /^https:\/\/[^/]+(.*)$/.exec(row.baseUrl)?.[1] ?? "";
  return URL.parse(address)?.pathname === "/" ? `${URL.parse(address)?.origin}${ownPath}` : address;
}

/** People copy the version at the beginning of the path into the address. */
function withoutRepeat(baseUrl: string, path: string): string {
  const [version = ""] = /^\/v\d\w*/.exec(path) ?? [];
  return version !== "" && baseUrl.endsWith(version) ? baseUrl.slice(0, -version.length) : baseUrl;
}

function readModel({ model }: ServerOptions, row: ServiceRow, env: Environment): string {
  const name = model ?? (env[modelVariable]?.trim() || row.model);
  if (name) return row.path.includes("{model}") ? (name.split("/").at(-1) as string) : name;
  return missingOption("model", { owner: row.title, variables: [modelVariable] });
}

function readKey({ apiKey }: ServerOptions, row: ServiceRow, env: Environment): string {
  const [first] = row.keyVariables;
  const variable = row.keyVariables.find((name) => env[name]?.trim()) ?? first;
  const key = apiKey ?? env[variable]?.trim() ?? "";
  if (key !== "") return checkHeaderText(key, "apiKey", variable);
  const note = noteOfOtherKey(env, row.keyVariables);
  return missingOption("apiKey", { owner: row.title, variables: row.keyVariables, note });
}

function readAccount({ accountId }: ServerOptions, row: ServiceRow, env: Environment): string {
  const account = accountId ?? env[accountVariable]?.trim() ?? "";
  if (account !== "") return account;
  return missingOption("accountId", { owner: row.title, variables: [accountVariable] });
}

/** The vendor's API has no models of other services, which its error would not explain. */
function checkModelIsOfVendor(model: string): void {
  const name = services.find((service) => {
    const { model: usual, prices = {} } = serviceRows[service];
    return service !== "typesafe" && (usual === model || byModel(prices, model) !== undefined);
  });
  if (name === undefined) return;
  const { title } = serviceRows[name];
  const what = `is ${quoteName(model)}, a model of ${title}; set service: "${name}" (EVALUATOR_TRANSPORT=${name}), or baseUrl if another server has it`;
  rejectOption("model", what, modelVariable);
}
