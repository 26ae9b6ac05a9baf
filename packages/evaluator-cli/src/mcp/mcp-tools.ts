import { printCounted } from "evaluator-runs/source";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import type {
  CallToolResult,
  ServerNotification,
  ServerRequest,
} from "@modelcontextprotocol/sdk/types.js";
import {
  calibrate,
  type CalibrationArtifact,
  CalibrationMismatchError,
  decide,
} from "evaluator-calibration";
import {
  type Answer,
  type AnswerValue,
  type Catalog,
  estimateCost,
  type Evaluation,
  type EvaluationRequest,
  type Evaluator,
  EvaluatorError,
  valuesOf,
} from "evaluator-client";
import type { Budget } from "evaluator-client/budget";
import type { Clock } from "evaluator-kit";
import { repeat } from "evaluator-runs/commands";
import { emulatedBasis, type Engine } from "../engines/engine.ts";
import { tools } from "./mcp-schemas.ts";

/** The engine of the tools and their limits. */
interface ToolContext {
  readonly version: string;
  readonly clock: Clock;
  readonly engine: Engine;
  /** The calibration of some questions to one model; null without one. */
  readonly artifact: CalibrationArtifact | null;
  readonly evaluator: Evaluator;
  /** The gateway's list of models; null for another engine. */
  readonly catalog: Catalog | null;
  /** Spending under a limit; null without one. */
  readonly spent: Budget | null;
  readonly maxCostUsd?: number;
  readonly maxTokens?: number;
  /** US dollars per million tokens, if they were given. */
  readonly price: number | null;
}

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

const claims = {
  "claimed by the service":
    "The service claims they are calibrated: of many events given 0.8, about 80% should happen.",
  "not calibrated":
    "They come from a chat model and are not calibrated: 0.8 does not mean that 80% happen.",
  "not known":
    "It is not known whether this server's are calibrated; an emulator's, marked by `basis`, are not.",
} satisfies Record<Engine["calibration"], string>;

/** Creates a server with the three tools; its calls share the evaluator, its limits and its budget. */
export function createMcpServer(context: ToolContext): McpServer {
  const { version, engine, artifact } = context;
  const fittedText =
    artifact &&
    `Answers of one model to the questions of a calibration are ${nameLabels(artifact)}; their result has \`decisions\`. About all others: `;
  const guide = `Asks typed questions about a state and returns probabilities, not prose. ${fittedText ?? ""}${claims[engine.calibration]} Put everything the answer depends on, such as today's date, into the state, text or a JSON object; ask several questions about one state in one call.`;
  const { sentence, annotations } = listEffects(context);
  const lookup = { readOnlyHint: true, openWorldHint: context.catalog !== null && !engine.isLocal };
  const server = new McpServer({ name: "evaluator", version }, { instructions: guide });
  const description = `${guide} ${sentence}`;
  server.registerTool(
    "evaluate",
    { ...tools.evaluate, description, annotations },
    async (request, extra) => {
      const endProgress = reportProgress(extra, context.clock);
      const run = () => evaluate(request, context, extra.signal);
      return await toResult(run).finally(endProgress);
    },
  );
  server.registerTool(
    "estimate",
    { ...tools.estimate, annotations: lookup },
    (request, { signal }) => toResult(() => estimate(request, context, signal)),
  );
  server.registerTool(
    "list_models",
    { ...tools.list_models, annotations: lookup },
    ({ type }, { signal }) => toResult(() => listModels(type, context, signal)),
  );
  return server;
}

/** Notifies a caller that gave a token each second, until the result is called. */
function reportProgress({ _meta, sendNotification }: Extra, clock: Clock): () => void {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return () => {};
  let progress = 0;
  const notify = () => {
    const params = { progressToken, progress: (progress += 1), message: "waiting for the answer" };
    // A caller that left gets none.
    sendNotification({ method: "notifications/progress", params }).catch(() => {});
  };
  return repeat(1000, notify, clock);
}

/** Returns where `evaluate` sends the state and whether it may cost money. */
function listEffects({ engine: { name, isLocal, isFree }, price }: ToolContext) {
  const costsNothing = isFree && price === null;
  const where = isLocal ? `Asks ${name}, on this machine` : `Sends the state to ${name}`;
  return {
    sentence: costsNothing ? `${where}.` : `${where}; a call may cost money.`,
    annotations: {
      readOnlyHint: costsNothing,
      destructiveHint: false,
      // A call that failed, or that left the cache, is paid again.
      idempotentHint: false,
      openWorldHint: !isLocal,
    },
  };
}

function nameLabels({ fittedOn }: CalibrationArtifact): string {
  return `calibrated on ${printCounted(fittedOn.n, "label")}`;
}

async function evaluate(request: EvaluationRequest, context: ToolContext, signal: AbortSignal) {
  const printedEvaluation = await context.evaluator.evaluate(request, { signal });
  const { evaluation, ...worth } = applyCalibration(printedEvaluation, request, context);
  const confidence: Readonly<Record<string, number | null>> = evaluation.confidence;
  const basis = emulatedBasis(evaluation.headers);
  const answers = Object.entries(request.questions).map(([id, question]) => {
    const answer = evaluation.answers[id] as Answer;
    const share = Object.hasOwn(confidence, id) ? confidence[id] : null;
    const values = Object.assign({}, ...valuesOf(question, answer).map(toShort)) as object;
    return [id, { type: answer.type, ...values, ...(share !== null && { confidence: share }) }];
  });
  return {
    answers: Object.fromEntries(answers) as object,
    ...worth,
    model: evaluation.modelId,
    costUsd: evaluation.costUsd,
    inputTokens: evaluation.usage?.inputTokens ?? null,
    ...(basis !== null && { basis }),
  };
}

/** Returns an evaluation unchanged, or with its acts if the calibration is for its model and its questions. */
function applyCalibration(
  evaluation: Evaluation,
  { questions }: EvaluationRequest,
  { artifact, engine }: ToolContext,
) {
  const isEmulated = emulatedBasis(evaluation.headers) !== null;
  const plain = { evaluation, calibration: isEmulated ? "not calibrated" : engine.calibration };
  if (artifact === null) return plain;
  try {
    const decisions = decide(evaluation, artifact, { questions });
    const calibratedEvaluation = calibrate(evaluation, artifact, { questions });
    return { evaluation: calibratedEvaluation, calibration: nameLabels(artifact), decisions };
  } catch (error) {
    if (error instanceof CalibrationMismatchError) return plain;
    throw error;
  }
}

const mostListed = 8;

/** Returns a value, of a distribution the likeliest: an assistant pays for each of 255 that it reads. */
function toShort({ name, form, value }: AnswerValue): object {
  if (form !== "distribution") return { [name]: value };
  const shares = Object.entries(value);
  const listedShares = new Map(
    shares.toSorted(([, one], [, other]) => other - one).slice(0, mostListed),
  );
  const omittedCount = shares.length - listedShares.size;
  const keptEntries = shares.filter(([key]) => listedShares.has(key));
  return {
    [name]: Object.fromEntries(keptEntries),
    ...(omittedCount > 0 && { omitted: omittedCount }),
  };
}

async function estimate(
  { times, ...request }: EvaluationRequest & { readonly times: number },
  context: ToolContext,
  signal: AbortSignal,
) {
  const { engine, spent: spentBudget, maxCostUsd, maxTokens } = context;
  const inputUsdPerMillionTokens = await toPrice(context, signal);
  const { calls, inputTokens, costUsd } = estimateCost([request], {
    inputUsdPerMillionTokens: inputUsdPerMillionTokens ?? 0,
    // A price that was given is of input and output; a listed one is of input alone.
    ...(context.price === null && { outputUsdPerMillionTokens: 0 }),
    transport: engine.transport,
  });
  return {
    calls: calls * times,
    inputTokens: inputTokens * times,
    costUsd: inputUsdPerMillionTokens === null ? null : toMicros(costUsd * times),
    ...(maxCostUsd !== undefined && {
      spentUsd: toMicros(spentBudget?.spending.costUsd ?? 0),
      maxCostUsd,
    }),
    ...(maxTokens !== undefined && { spentTokens: spentBudget?.spending.tokens, maxTokens }),
  };
}

function toMicros(usd: number): number {
  return Number(usd.toFixed(6));
}

async function toPrice({ price, catalog, engine }: ToolContext, signal: AbortSignal) {
  if (price !== null) return price;
  const models = (await catalog?.listModels({ signal })) ?? [];
  const model = models.find(({ id }) => id === engine.transport.target?.modelId);
  return model?.inputUsdPerMillionTokens ?? null;
}

const mostModels = 30;

async function listModels(type: string, { catalog, engine }: ToolContext, signal: AbortSignal) {
  // The gateway's word for the evaluation model became `decision` with its successor.
  const types = type === "evaluation" ? new Set([type, "decision"]) : new Set([type]);
  const catalogModels = await catalog?.listModels({ signal });
  const id = engine.transport.target?.modelId ?? "unknown";
  const own = { id, type: null, inputUsdPerMillionTokens: null, outputUsdPerMillionTokens: null };
  const models = catalogModels?.filter((model) => types.has(model.type ?? "")) ?? [own];
  // The schema drops the other fields of a model.
  const { outputSchema } = tools.list_models;
  return outputSchema.parse({ models: models.slice(0, mostModels), total: models.length });
}

/** Returns a result for an assistant; a failure is a message that never repeats the request. */
async function toResult(run: () => Promise<Record<string, unknown>>): Promise<CallToolResult> {
  try {
    const structuredContent = await run();
    return {
      content: [{ type: "text", text: JSON.stringify(structuredContent) }],
      structuredContent,
    };
  } catch (error) {
    const text =
      error instanceof EvaluatorError
        ? error.message
        : `The call failed with an unexpected ${error instanceof Error ? error.name : typeof error}.`;
    return { isError: true, content: [{ type: "text", text }] };
  }
}
