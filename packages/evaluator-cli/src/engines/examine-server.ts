import { apiKeyVariables, services } from "evaluator-client";
import {
  CliError,
  type CliContext,
  exitCodes,
  parseJson,
  printable,
  printDown,
  systemErrorCode,
  UsageError,
} from "evaluator-kit";
import type { AskOptions } from "../commands/ask-commands.ts";
import { describeService, isServiceName } from "./describe-service.ts";
import { probeServer } from "./probe-server.ts";

type Findings = Awaited<ReturnType<typeof probeServer>> & {
  readonly server: Parameters<typeof probeServer>[0];
  readonly models: readonly string[];
};

/** Prints the findings about a server, with the lines that reach it or the changes to make. */
export async function examineServer(
  url: string,
  options: AskOptions<"doctor">,
  context: CliContext,
): Promise<void> {
  if (isServiceName(url)) return describeService(url, options, context);
  const { model: wantedModel, json: isJson } = options;
  const baseUrl = parseAddress(url);
  const apiKey = context.env[apiKeyVariables.logprobs] ?? null;
  const modelListing = await listModels(baseUrl, apiKey, context);
  const { models } = modelListing;
  const server = { baseUrl, apiKey, model: chooseModel(modelListing, wantedModel, baseUrl) };
  const probes = await probeServer(server, context);
  const findings = { server, models, ...probes };
  const paste = listLinesToPaste(findings);
  const reportJson = { url: baseUrl, model: server.model, models, ...probes, paste };
  const reportText =
    isJson === true ? JSON.stringify(reportJson, null, 2) : describeFindings(findings, paste);
  context.stdout.write(`${reportText}\n`);
  if (paste === null) context.exitCode = exitCodes.failed;
}

function parseAddress(typedAddress: string): string {
  const parsedUrl = URL.parse(typedAddress);
  const isPlain =
    parsedUrl !== null &&
    `${parsedUrl.username}${parsedUrl.password}${parsedUrl.search}${parsedUrl.hash}` === "";
  if (isPlain && (parsedUrl.protocol === "http:" || parsedUrl.protocol === "https:")) {
    // Most programs want the /v1 in their address, so people type it.
    return parsedUrl.href.replace(/(?:\/v1)?\/?$/, "");
  }
  throw new UsageError(
    printable`"${typedAddress}" is no address such as http://127.0.0.1:11434, and no service: ${services.join(", ")}.`,
  );
}

function chooseModel(
  { models, status }: Awaited<ReturnType<typeof listModels>>,
  wantedName: string | undefined,
  baseUrl: string,
) {
  const [firstModel] = models;
  if (wantedName !== undefined) {
    if (firstModel === undefined || models.includes(wantedName)) return wantedName;
    const modelNames = `${models.slice(0, 20).join(", ")}${models.length > 20 ? ", …" : ""}`;
    const problem = printable`${baseUrl} has no model "${wantedName}". It has ${modelNames}`;
    throw new CliError(`${problem}; choose one with --model.`);
  }
  if (firstModel !== undefined) return firstModel;
  const problem =
    status < 400
      ? "lists no models; load one"
      : `answers /v1/models with ${status}; check the address`;
  throw new CliError(printable`${baseUrl} ${problem}, or name the model with --model.`);
}

/** Returns the names of the server's models and the status of that answer. @throws CliError if it does not answer as a server does. */
async function listModels(baseUrl: string, apiKey: string | null, { signal }: CliContext) {
  const headers = apiKey === null ? {} : { Authorization: `Bearer ${apiKey}` };
  const limitSignal = AbortSignal.any([signal, AbortSignal.timeout(20_000)]);
  const requestInit = { headers, signal: limitSignal, redirect: "manual" } as const;
  const { status, list } = await fetch(`${baseUrl}/v1/models`, requestInit)
    .then(async (response) => {
      const bodyText = await response.text();
      return { status: response.status, list: response.ok ? parseJson(bodyText) : null };
    })
    .catch((error: unknown) => {
      signal.throwIfAborted();
      throw toUnreachableError(baseUrl, error);
    });
  if (status === 401 || status === 403) {
    const keyProblem = apiKey === null ? "wants a key" : "refuses the key";
    const advice = `Set ${apiKeyVariables.logprobs}.`;
    throw new CliError(printable`${baseUrl} ${keyProblem} (${String(status)}). ${advice}`);
  }
  if (status >= 300 && status < 400) {
    throw new CliError(printable`${baseUrl} redirects to another address; give that one.`);
  }
  if (list === null && status < 400) {
    const problem = printable`${baseUrl} answers /v1/models without JSON, like a web page or another service.`;
    throw new CliError(`${problem} Check the port and the path.`);
  }
  const { data } = (list ?? {}) as { data?: readonly { id?: unknown }[] };
  const models = Array.isArray(data) ? data.map((model: { id?: unknown }) => String(model.id)) : [];
  return { models, status };
}

const failureTexts: Readonly<Record<string, string>> = {
  ECONNREFUSED: "refuses the connection",
  ENOTFOUND: "is no known host",
};

function toUnreachableError(baseUrl: string, error: unknown): CliError {
  const errorCode = systemErrorCode(error instanceof Error ? (error.cause ?? error) : error) ?? "";
  const failureText =
    failureTexts[errorCode] ?? `does not answer${errorCode === "" ? "" : ` (${errorCode})`}`;
  const advice = "Start the server, or check host, port, http or https, and proxy.";
  return new CliError(printable`${baseUrl} ${failureText}. ${advice}`, { cause: error });
}

function describeFindings(findings: Findings, paste: string | null): string {
  const { server, models, systemone, decisions, logprobs } = findings;
  const othersNote = models.length > 1 ? ` (of ${models.length}; --model takes another)` : "";
  const nativeProbe = [systemone, decisions].find(({ isUsable }) => isUsable);
  const findingEntries = Object.entries({
    model: `${server.model}${othersNote}`,
    "POST /v1/systemone": systemone.found,
    "POST /v1/decisions": decisions.found,
    ...describeLogprobs(logprobs),
    "known questions": describeRight(nativeProbe?.right ?? logprobs.right),
    ...(nativeProbe && { calibration: "not shown by a route: vLLM serves both with any model" }),
  });
  return [
    server.baseUrl,
    ...findingEntries.map(
      ([findingName, foundText]) => printable`  ${findingName.padEnd(20)}${foundText}`,
    ),
    "",
    paste ?? printable`It cannot be used unchanged: ${logprobs.found}`,
  ].join("\n");
}

function describeLogprobs(probe: Findings["logprobs"]) {
  const { server, listedTokens, hasTokenizer, labelMass, flips, callMs } = probe;
  const tokenizer = hasTokenizer ? "yes: labels are asked for by token" : "not needed, or none";
  if (!probe.isUsable) return { "log-probabilities": `no: ${probe.found}`, tokenizer };
  const orderNote = flips ? "; the order of the labels changed an answer" : "";
  return {
    "log-probabilities": `yes, ${listedTokens} tokens listed (asked as ${server ?? "a chat"})`,
    tokenizer,
    thinking: "off: the answer begins with a label",
    "label mass": printDown(labelMass ?? 0) + orderNote,
    "time for a call": callMs === null ? "not known" : `${Math.round(callMs)} ms`,
  };
}

function describeRight(rightProbability: number | null): string {
  if (rightProbability === null) return "not answered";
  if (rightProbability > 0.5) return `${printDown(rightProbability)} or more for the right answer`;
  return `only ${rightProbability.toFixed(2)} for a right answer; try a larger model`;
}

/** Returns the lines that reach the server the best way it has, or null. */
function listLinesToPaste({ server, systemone, decisions, logprobs }: Findings): string | null {
  const { baseUrl, model, apiKey } = server;
  const modelLine = `EVALUATOR_MODEL_ID=${model}`;
  if (systemone.isUsable) {
    const keyText = `${apiKeyVariables.direct}=${apiKey === null ? "none" : "…"}`;
    return `EVALUATOR_TRANSPORT=direct\nEVALUATOR_DIRECT_BASE_URL=${baseUrl}\n${keyText}\n${modelLine}`;
  }
  if (decisions.isUsable) {
    const addressText = `baseUrl: ${JSON.stringify(baseUrl)}, model: ${JSON.stringify(model)}`;
    const keyText = apiKey === null ? ", apiKey: null" : "";
    return `createEvaluator({ transport: directTransport({ wire: "decisions", ${addressText}${keyText} }), limits: {} })`;
  }
  if (!logprobs.isUsable) return null;
  const keyText = apiKey === null ? "" : `\n${apiKeyVariables.logprobs}=…`;
  return `EVALUATOR_TRANSPORT=logprobs\nEVALUATOR_LOGPROBS_BASE_URL=${baseUrl}${keyText}\n${modelLine}`;
}
