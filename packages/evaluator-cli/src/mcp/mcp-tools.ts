import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import {
  type Answer,
  type Catalog,
  type CatalogModel,
  estimateCost,
  type EvaluationRequest,
  type Evaluator,
  EvaluatorError,
} from "evaluator-client";
import type { Budget } from "evaluator-client/budget";
import { emulatedBasis, type Engine } from "../engines/engine.ts";
import {
  estimateInput,
  estimateOutput,
  evaluateInput,
  evaluateOutput,
  listInput,
  listOutput,
  type ShortAnswer,
  toRequest,
} from "./mcp-schemas.ts";

/** What the tools ask, and what they may spend. */
export interface ToolContext {
  readonly version: string;
  readonly engine: Engine;
  readonly evaluator: Evaluator;
  /** The gateway's list of models; null where another engine is asked. */
  readonly catalog: Catalog | null;
  /** What is spent under a limit; null without one. */
  readonly budget: {
    readonly spent: Budget;
    readonly maxCostUsd?: number;
    readonly maxTokens?: number;
  } | null;
  /** US dollars per million tokens, where the caller knows. */
  readonly price: number | null;
}

const claims = {
  claimed:
    "The service says they are calibrated: of many events given 0.8, about 80% should happen.",
  none: "They come from a chat model and are not calibrated: 0.8 does not mean that 80% happen.",
  unknown:
    "It is not known whether this server's are calibrated; an emulator's, marked by `basis`, are not.",
} satisfies Record<Engine["calibration"], string>;

function guideOf({ calibration }: Engine): string {
  return `Asks typed questions about a state and returns probabilities, not prose. ${claims[calibration]} Put everything the answer depends on, such as today's date, into the state; ask several questions about one state in one call.`;
}

/** Returns where `evaluate` sends the state and whether it may cost money, in words and as hints. */
function effectsOf({ engine: { name, isLocal, isFree }, price }: ToolContext) {
  const costsNothing = isFree && price === null;
  const where = isLocal ? `Asks ${name}, on this machine` : `Sends the state to ${name}`;
  return {
    sentence: costsNothing ? `${where}.` : `${where}; a call may cost money.`,
    annotations: {
      readOnlyHint: costsNothing,
      destructiveHint: false,
      // A call that failed, or that the cache no longer holds, is paid again.
      idempotentHint: false,
      openWorldHint: !isLocal,
    },
  };
}

/** Makes a server with the three tools; its calls share the evaluator, its limits and its budget. */
export function createMcpServer(context: ToolContext): McpServer {
  const { version, engine } = context;
  const guide = guideOf(engine);
  const { sentence, annotations } = effectsOf(context);
  const lookup = { readOnlyHint: true, openWorldHint: context.catalog !== null && !engine.isLocal };
  const server = new McpServer({ name: "evaluator", version }, { instructions: guide });
  server.registerTool(
    "evaluate",
    {
      title: "Ask typed questions",
      description: `${guide} ${sentence}`,
      inputSchema: evaluateInput,
      outputSchema: evaluateOutput,
      annotations,
    },
    (request, { signal }) => toResult(() => evaluate(toRequest(request), context, signal)),
  );
  server.registerTool(
    "estimate",
    {
      title: "Estimate a cost",
      description: "Says what the same call of `evaluate` would take, without sending it.",
      inputSchema: estimateInput,
      outputSchema: estimateOutput,
      annotations: lookup,
    },
    ({ times, ...request }, { signal }) =>
      toResult(() => estimate({ request: toRequest(request), times }, context, signal)),
  );
  server.registerTool(
    "list_models",
    {
      title: "List models",
      description: "Lists models with their prices in US dollars per million tokens; free.",
      inputSchema: listInput,
      outputSchema: listOutput,
      annotations: lookup,
    },
    ({ type }, { signal }) => toResult(() => listModels(type, context, signal)),
  );
  return server;
}

async function evaluate(
  request: EvaluationRequest,
  { evaluator }: ToolContext,
  signal: AbortSignal,
) {
  const evaluation = await evaluator.evaluate(request, { signal });
  const confidence: Readonly<Record<string, number | null>> = evaluation.confidence;
  const basis = emulatedBasis(evaluation.headers);
  const answers = Object.entries(evaluation.answers as Record<string, Answer>);
  return {
    answers: Object.fromEntries(
      answers.map(([id, answer]) => [id, toShort(answer, confidence[id] ?? null)]),
    ),
    model: evaluation.modelId,
    costUsd: evaluation.costUsd,
    inputTokens: evaluation.usage.inputTokens,
    ...(basis !== null && { basis }),
  };
}

const mostListed = 8;

/** Returns an answer with the likeliest of its probabilities: a model that reads 255 pays for each. */
function toShort(answer: Answer, confidence: number | null): ShortAnswer {
  if (answer.type === "boolean") return answer;
  const shares = Object.entries(answer.probabilities);
  const listed = new Map(shares.toSorted(([, one], [, other]) => other - one).slice(0, mostListed));
  const omitted = shares.length - listed.size;
  return {
    ...answer,
    probabilities: Object.fromEntries(shares.filter(([name]) => listed.has(name))),
    ...(omitted > 0 && { omitted }),
    ...(confidence !== null && { confidence }),
  };
}

async function estimate(
  { request, times }: { readonly request: EvaluationRequest; readonly times: number },
  context: ToolContext,
  signal: AbortSignal,
) {
  const { engine, budget } = context;
  const { transport } = engine;
  const price = await priceOf(context, signal);
  const { calls, inputTokens, costUsd } = estimateCost([request], {
    ...(price ?? { inputUsdPerMillionTokens: 0 }),
    transport,
  });
  return {
    calls: calls * times,
    inputTokens: inputTokens * times,
    costUsd: price === null ? null : costUsd * times,
    ...(budget?.maxCostUsd !== undefined && {
      spentUsd: budget.spent.spending.costUsd,
      maxCostUsd: budget.maxCostUsd,
    }),
    ...(budget?.maxTokens !== undefined && {
      spentTokens: budget.spent.spending.tokens,
      maxTokens: budget.maxTokens,
    }),
  };
}

async function priceOf({ price, catalog, engine }: ToolContext, signal: AbortSignal) {
  if (price !== null) return { inputUsdPerMillionTokens: price };
  const models = (await catalog?.listModels({ signal })) ?? [];
  const { inputUsdPerMillionTokens = null } =
    models.find(({ id }) => id === engine.transport.target?.modelId) ?? {};
  return inputUsdPerMillionTokens === null
    ? null
    : { inputUsdPerMillionTokens, outputUsdPerMillionTokens: 0 };
}

const mostModels = 30;

async function listModels(type: string, { catalog, engine }: ToolContext, signal: AbortSignal) {
  // The gateway's word for the evaluation model became `decision` with its successor.
  const types = type === "evaluation" ? new Set([type, "decision"]) : new Set([type]);
  const listed = await catalog?.listModels({ signal });
  const models = listed?.filter((model) => types.has(model.type ?? "")) ?? [ownModel(engine)];
  return { models: models.slice(0, mostModels).map(toListed), total: models.length };
}

function ownModel({ transport }: Engine): Parameters<typeof toListed>[0] {
  const id = transport.target?.modelId ?? "unknown";
  return { id, type: null, inputUsdPerMillionTokens: null, outputUsdPerMillionTokens: null };
}

function toListed({
  id,
  type,
  inputUsdPerMillionTokens,
  outputUsdPerMillionTokens,
}: Omit<CatalogModel, "raw" | "name" | "contextWindow">) {
  return { id, type, inputUsdPerMillionTokens, outputUsdPerMillionTokens };
}

/** Returns a result as an assistant reads it; a failure says what it is, and never what was asked. */
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
