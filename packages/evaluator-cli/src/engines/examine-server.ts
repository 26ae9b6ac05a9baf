import { apiKeyVariables } from "evaluator-client";
import { type CliContext, exitCodes, printable, UsageError } from "evaluator-kit";
import type { askCommands } from "../commands/ask-commands.ts";
import type { OptionsOf } from "../commands/shared-options.ts";
import { type Findings, probeServer } from "./probe-server.ts";

type DoctorOptions = OptionsOf<typeof askCommands.doctor>;

/** Prints the findings about a server, with the lines that reach it or the changes to make. */
export async function examineServer(
  url: string,
  options: DoctorOptions,
  context: CliContext,
): Promise<void> {
  const address = { baseUrl: readUrl(url), apiKey: readKey(options.key, context) };
  const findings = await probeServer(address, options.model, context);
  const paste = linesToPaste(findings);
  const { server, ...probes } = findings;
  const json = { url: server.baseUrl, model: server.model, ...probes, paste };
  const isJson = options.json === true;
  const text = isJson ? JSON.stringify(json, null, 2) : describe(findings, paste);
  context.stdout.write(`${text}\n`);
  if (paste === null) context.exitCode = exitCodes.failed;
}

function readUrl(typed: string): string {
  const url = URL.parse(typed);
  const isPlain = url !== null && `${url.username}${url.password}${url.search}${url.hash}` === "";
  if (isPlain && (url.protocol === "http:" || url.protocol === "https:")) {
    // Most programs want the /v1 in their address, so people type it.
    return url.href.replace(/(?:\/v1)?\/?$/, "");
  }
  throw new UsageError(printable`"${typed}" is no address such as http://127.0.0.1:11434.`);
}

function readKey(variable: string | undefined, { env }: CliContext): string | null {
  const key = env[variable ?? apiKeyVariables.logprobs] ?? null;
  if (key !== null || variable === undefined) return key;
  throw new UsageError(printable`--key ${variable} names an environment variable that is not set.`);
}

function describe(
  { server, models, systemone, decisions, logprobs }: Findings,
  paste: string | null,
): string {
  const { model, baseUrl } = server;
  const others = models.length > 1 ? ` (of ${models.length}; --model takes another)` : "";
  const native = [systemone, decisions].find(({ isUsable }) => isUsable);
  const lines: [string, string][] = [
    ["model", `${model}${others}`],
    ["POST /v1/systemone", systemone.found],
    ["POST /v1/decisions", decisions.found],
    ...describeLogprobs(logprobs),
    ["known questions", describeRight(native?.right ?? logprobs.right)],
  ];
  return [
    baseUrl,
    ...lines.map(([name, found]) => printable`  ${name.padEnd(20)}${found}`),
    "",
    paste ?? printable`It cannot be used unchanged. Change this: ${logprobs.found}`,
  ].join("\n");
}

function describeLogprobs(probe: Findings["logprobs"]): [string, string][] {
  const { isUsable, found, server, listedTokens, hasTokenizer, labelMass, flips, callMs } = probe;
  const tokenizer = hasTokenizer ? "yes: labels are asked for by token" : "not needed, or none";
  const listed = `yes, ${listedTokens} tokens listed (asked as ${server ?? "a chat"})`;
  const mass = (labelMass ?? 0).toFixed(2);
  const order = flips ? "; the order of the labels changed an answer" : "";
  const time = callMs === null ? "not known" : `${Math.round(callMs)} ms`;
  const read: [string, string][] = [
    ["thinking", "off: the answer begins with a label"],
    ["label mass", mass + order],
    ["time for a call", time],
  ];
  return [
    ["log-probabilities", isUsable ? listed : `no: ${found}`],
    ["tokenizer", tokenizer],
    ...(isUsable ? read : []),
  ];
}

function describeRight(right: number | null): string {
  if (right === null) return "not answered";
  if (right > 0.5) return `${right.toFixed(2)} or more for the right answer`;
  return `only ${right.toFixed(2)} for a right answer; a larger model reads better`;
}

/** Returns the lines that reach the server the best way it has, or null. */
function linesToPaste({ server, systemone, decisions, logprobs }: Findings): string | null {
  const { baseUrl, model, apiKey } = server;
  const modelLine = `EVALUATOR_MODEL_ID=${model}`;
  if (systemone.isUsable) {
    const key = `${apiKeyVariables.direct}=${apiKey === null ? "none" : "…"}`;
    return `EVALUATOR_TRANSPORT=direct\nEVALUATOR_DIRECT_BASE_URL=${baseUrl}\n${key}\n${modelLine}`;
  }
  if (decisions.isUsable) {
    const address = `baseUrl: ${JSON.stringify(baseUrl)}, model: ${JSON.stringify(model)}`;
    const key = apiKey === null ? ", apiKey: null" : "";
    return `createEvaluator({ transport: directTransport({ wire: "decisions", ${address}${key} }), limits: {} })`;
  }
  if (!logprobs.isUsable) return null;
  const key = apiKey === null ? "" : `\n${apiKeyVariables.logprobs}=…`;
  return `EVALUATOR_TRANSPORT=logprobs\nEVALUATOR_LOGPROBS_BASE_URL=${baseUrl}${key}\n${modelLine}`;
}
