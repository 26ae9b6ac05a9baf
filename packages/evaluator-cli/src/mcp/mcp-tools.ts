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

const calibrationClaims = {
  "claimed by the service":
    "The service claims they are calibrated: of events given 0.8, about 80% happen.",
  "not calibrated": "A chat model's are not calibrated: 0.8 does not mean that 80% happen.",
  "not known":
    "Whether this server's are calibrated is unknown; an emulator's, marked by `basis`, are not.",
} satisfies Record<Engine["calibration"], string>;

/** Creates a server with the three tools; its calls share the evaluator, its limits and its budget. */
export function createMcpServer(context: ToolContext): McpServer {
  const { version, engine, artifact } = context;
  const fittedText =
    artifact &&
    `Answers of one model to the questions of a calibration are ${nameLabels(artifact)}; their result has \`decisions\`. About all others: `;
  const guideText = `Asks typed questions about a state and returns probabilities, not prose. ${fittedText ?? ""}${calibrationClaims[engine.calibration]} Put all that answers depend on, such as today's date, into the state; ask several questions in one call.`;
  const { sentence, annotations } = listEffects(context);
  const lookupHints = {
    readOnlyHint: true,
    openWorldHint: context.catalog !== null && !engine.isLocal,
  };
  const server = new McpServer({ name: "evaluator", version }, { instructions: guideText });
  const description = `${guideText} ${sentence}`;
  server.registerTool(
    "evaluate",
    { ...tools.evaluate, description, annotations },
    async (request, extra) => {
      const endProgress = reportProgress(extra, context.clock);
      const runEvaluation = () => evaluateRequest(request, context, extra.signal);
      return await toResult(runEvaluation).finally(endProgress);
    },
  );
  server.registerTool(
    "estimate",
    { ...tools.estimate, annotations: lookupHints },
    (request, { signal }) => toResult(() => estimateRequest(request, context, signal)),
  );
  server.registerTool(
    "list_models",
    { ...tools.list_models, annotations: lookupHints },
    ({ type }, { signal }) => toResult(() => listModels(type, context, signal)),
  );
  return server;
}

/** Notifies a caller that gave a token each second, until the result is called. */
function reportProgress({ _meta, sendNotification }: Extra, clock: Clock): () => void {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return () => {};
  let progress = 0;
  const notifyCaller = () => {
    const params = { progressToken, progress: (progress += 1), message: "waiting for the answer" };
    // A caller that left gets none.
    sendNotification({ method: "notifications/progress", params }).catch(() => {});
  };
  return repeat(1000, notifyCaller, clock);
}

/** Returns where `evaluate` sends the state and whether it may cost money. */
function listEffects({ engine: { name, isLocal, isFree }, price }: ToolContext) {
  const costsNothing = isFree && price === null;
  const destinationText = isLocal ? `Asks ${name}, on this machine` : `Sends the state to ${name}`;
  return {
    sentence: costsNothing ? `${destinationText}.` : `${destinationText}; a call may cost money.`,
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

async function evaluateRequest(
  request: EvaluationRequest,
  context: ToolContext,
  signal: AbortSignal,
) {
  const printedEvaluation = await context.evaluator.evaluate(request, { signal });
  const { evaluation, ...calibrationFields } = applyCalibration(
    printedEvaluation,
    request,
    context,
  );
  const confidence: Readonly<Record<string, number | null>> = evaluation.confidence;
  const basis = emulatedBasis(evaluation.headers);
  const answers = Object.entries(request.questions).map(([questionId, question]) => {
    const answer = evaluation.answers[questionId] as Answer;
    const confidenceShare = Object.hasOwn(confidence, questionId) ? confidence[questionId] : null;
    const answerFields = Object.assign(
      {},
      ...valuesOf(question, answer).map(toShortValue),
    ) as object;
    return [
      questionId,
      {
        type: answer.type,
        ...answerFields,
        ...(confidenceShare !== null && { confidence: confidenceShare }),
      },
    ];
  });
  return {
    answers: Object.fromEntries(answers) as object,
    ...calibrationFields,
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
  const plainResult = {
    evaluation,
    calibration: isEmulated ? "not calibrated" : engine.calibration,
  };
  if (artifact === null) return plainResult;
  try {
    const decisions = decide(evaluation, artifact, { questions });
    const calibratedEvaluation = calibrate(evaluation, artifact, { questions });
    return { evaluation: calibratedEvaluation, calibration: nameLabels(artifact), decisions };
  } catch (error) {
    if (error instanceof CalibrationMismatchError) return plainResult;
    throw error;
  }
}

const mostListed = 8;

/** Returns a value, of a distribution the likeliest: an assistant pays for each of 255 that it reads. */
function toShortValue({ name, form, value }: AnswerValue): object {
  if (form !== "distribution") return { [name]: value };
  const shares = Object.entries(value);
  const listedShares = new Map(
    shares.toSorted(([, left], [, right]) => right - left).slice(0, mostListed),
  );
  const omittedCount = shares.length - listedShares.size;
  const keptEntries = shares.filter(([optionName]) => listedShares.has(optionName));
  return {
    [name]: Object.fromEntries(keptEntries),
    ...(omittedCount > 0 && { omitted: omittedCount }),
  };
}

async function estimateRequest(
  { times, ...request }: EvaluationRequest & { readonly times: number },
  context: ToolContext,
  signal: AbortSignal,
) {
  const { engine, spent: spentBudget, maxCostUsd, maxTokens } = context;
  const inputUsdPerMillionTokens = await findPrice(context, signal);
  const { calls, inputTokens, costUsd } = estimateCost([request], {
    inputUsdPerMillionTokens: inputUsdPerMillionTokens ?? 0,
    // A price that was given is of input and output; a listed one is of input alone.
    ...(context.price === null && { outputUsdPerMillionTokens: 0 }),
    transport: engine.transport,
  });
  return {
    calls: calls * times,
    inputTokens: inputTokens * times,
    costUsd: inputUsdPerMillionTokens === null ? null : roundToMicros(costUsd * times),
    ...(maxCostUsd !== undefined && {
      spentUsd: roundToMicros(spentBudget?.spending.costUsd ?? 0),
      maxCostUsd,
    }),
    ...(maxTokens !== undefined && { spentTokens: spentBudget?.spending.tokens, maxTokens }),
  };
}

function roundToMicros(usd: number): number {
  return Number(usd.toFixed(6));
}

async function findPrice({ price, catalog, engine }: ToolContext, signal: AbortSignal) {
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
  const ownModel = {
    id,
    type: null,
    inputUsdPerMillionTokens: null,
    outputUsdPerMillionTokens: null,
  };
  const models = catalogModels?.filter((model) => types.has(model.type ?? "")) ?? [ownModel];
  // The schema drops the other fields of a model.
  const { outputSchema } = tools.list_models;
  return outputSchema.parse({ models: models.slice(0, mostModels), total: models.length });
}

/** Returns a result for an assistant; a failure is a message that never repeats the request. */
async function toResult(runTool: () => Promise<Record<string, unknown>>): Promise<CallToolResult> {
  try {
    const structuredContent = await runTool();
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
