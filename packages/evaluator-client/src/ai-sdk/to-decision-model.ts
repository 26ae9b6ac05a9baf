import type { Experimental_DecisionModel } from "ai";
import { InvalidRequestError } from "../errors.ts";
import type { Evaluation } from "../evaluation.ts";
import type { Evaluator } from "../evaluator.ts";
import type { EvaluateOptions } from "../evaluator-options.ts";
import { checkOptions, optionsNamed } from "../options.ts";
import { isRecord, mapRecord } from "../questions/json.ts";
import { type KindName, type Question, questionKinds } from "../questions/kinds.ts";
import type { EvaluationRequest } from "../questions/request.ts";
import { image, type StatePart } from "../questions/state.ts";
import { rejectQuestion } from "../questions/rejections.ts";

/** A decision model of the `ai` package; experimental there, so its version is pinned. */
export type DecisionModel = Extract<Experimental_DecisionModel, { doDecide: unknown }>;
type DecisionCall = Parameters<DecisionModel["doDecide"]>[0];
type DecisionQuestion = DecisionCall["questions"][string];
type DecisionStatePart = DecisionCall["state"][number];
type DecisionResult = Awaited<ReturnType<DecisionModel["doDecide"]>>;
type DecisionWarning = DecisionResult["warnings"][number];

/** The model's names in the `ai` package. */
export interface DecisionModelOptions {
  /** The id in messages, and in results if the service names no model. @default "evaluator" */
  modelId?: string | undefined;
  /** The provider's name in messages. @default "evaluator-client" */
  provider?: string | undefined;
}

/**
 * Makes a decision model of the `ai` package from an evaluator, with the evaluator's retries, limits
 * and checks. `experimental_decide` throws the evaluator's errors and does not retry them.
 *
 * @throws {ConfigurationError} if an option is unknown.
 * @example
 * ```ts
 * const model = toDecisionModel(createEvaluator());
 * const { answers } = await experimental_decide({
 *   model,
 *   state: "Your invoice is attached.",
 *   questions: { scam: { type: "boolean", instructions: "Does it look like a scam?" } },
 * });
 * ```
 */
export function toDecisionModel(
  evaluator: Evaluator,
  options: DecisionModelOptions = {},
): DecisionModel {
  checkOptions(optionsNamed("modelId", "provider"), options);
  const { modelId = "evaluator", provider = "evaluator-client" } = options;
  return {
    specificationVersion: "v4",
    provider,
    modelId,
    supportedQuestionTypes,
    async doDecide(call) {
      const state = fromDecisionState(call.state);
      const questions = mapRecord(call.questions, fromQuestion);
      const evaluation = await evaluator.evaluate({ state, questions }, listCallOptions(call));
      return toDecisionResult(evaluation, callWarnings(call, state));
    },
  };
}

function listCallOptions(call: DecisionCall): EvaluateOptions {
  const { abortSignal: signal, headers = {}, providerOptions = {} } = call;
  // The package adds its own name to every call, in a header that the transport may have too.
  const own = Object.entries(headers).filter(
    (header): header is [string, string] =>
      header[1] !== undefined && header[0].toLowerCase() !== "user-agent",
  );
  return {
    signal,
    ...(own.length > 0 && { headers: Object.fromEntries(own) }),
    ...(Object.keys(providerOptions).length > 0 && { providerOptions }),
  };
}

function toDecisionResult(
  evaluation: Evaluation,
  warnings: readonly DecisionWarning[],
): DecisionResult {
  const { answers, rounding, usage, providerMetadata, requestId, modelId, raw } = evaluation;
  const headers = Object.entries(evaluation.headers).map(([name, value]) => [name, String(value)]);
  return {
    answers,
    rounding,
    ...(usage !== null && { usage }),
    warnings: [...warnings, ...evaluation.warnings.map(toWarning)],
    providerMetadata: providerMetadata as NonNullable<DecisionResult["providerMetadata"]>,
    response: {
      ...(requestId !== null && { id: requestId }),
      ...(modelId !== null && { modelId }),
      headers: Object.fromEntries(headers) as Record<string, string>,
      body: raw,
    },
  };
}

/** Returns a warning of the service, as text if it does not have the package's form. */
function toWarning(warning: unknown): DecisionWarning {
  if (isRecord(warning) && typeof warning["type"] === "string") return warning as DecisionWarning;
  return {
    type: "other",
    message: typeof warning === "string" ? warning : JSON.stringify(warning),
  };
}

// Several parts become one text, because the model would read the keys of an object (contract section 2.1).
function fromDecisionState(parts: DecisionCall["state"]): EvaluationRequest["state"] {
  const [first] = parts;
  if (first === undefined) {
    throw new InvalidRequestError("The state has no parts; send at least one.");
  }
  if (parts.length === 1 && first.type === "json" && isRecord(first.value)) return first.value;
  if (parts.some(({ type }) => type === "file")) return parts.map(toPart);
  return parts.map(toText).join("\n\n");
}

function toPart(part: DecisionStatePart): StatePart {
  if (part.type === "text") return part.text;
  return part.type === "json" ? { json: part.value } : fromFile(part);
}

function fromFile({ mediaType, data }: Extract<DecisionStatePart, { type: "file" }>): StatePart {
  if (mediaType.split("/")[0] === "image") {
    if (data.type === "url") return image(data.url);
    if (data.type === "data") {
      return image(typeof data.data === "string" ? listBytes(data.data) : data.data);
    }
  }
  const message = "The state has a file part that is no image; send its content as text or JSON.";
  throw new InvalidRequestError(message);
}

function listBytes(base64: string): Uint8Array {
  try {
    const binary = atob(base64);
    const bytes = new Uint8Array(binary.length);
    // Not Uint8Array.from, which takes a second for an image of 8 MiB.
    for (let index = 0; index < bytes.length; index += 1) bytes[index] = binary.charCodeAt(index);
    return bytes;
  } catch {
    throw new InvalidRequestError("The state has a file part whose data is not base64.");
  }
}

function toText(part: DecisionStatePart): string {
  return part.type === "text" ? part.text : toJson((part as { value: unknown }).value);
}

function toJson(value: unknown): string {
  try {
    const text: unknown = JSON.stringify(value);
    if (typeof text === "string") return text;
  } catch {
    // A cycle or a BigInt; the thrown message may quote the state.
  }
  throw new InvalidRequestError("The state has a JSON part that is not a JSON value.");
}

// The package has no questions that need an image.
const supportedQuestionTypes = (Object.keys(questionKinds) as KindName[]).filter(
  (name) => questionKinds[name].needsImage !== true,
);

function fromQuestion(question: DecisionQuestion, id: string): Question {
  const type = supportedQuestionTypes.find((supportedText) => supportedText === question.type);
  if (type === undefined)
    return rejectQuestion(
      id,
      `asks for a ${question.type}; ask ${supportedQuestionTypes.join(", ")}`,
    );
  const { instructions = null } = question;
  if (instructions === null) return rejectQuestion(id, "has no instructions; write the question");
  const criteria = "criteria" in question ? question.criteria : undefined;
  if (questionKinds[type].limit !== null) return { type, instructions, criteria } as Question;
  // A question without keys does not need its criteria.
  const describedEntries = Object.entries(criteria ?? {}).filter(([, text]) => text != null);
  if (describedEntries.length === 0) return { type, instructions } as Question;
  return { type, instructions, criteria: Object.fromEntries(describedEntries) } as Question;
}

function callWarnings(
  call: DecisionCall,
  state: EvaluationRequest["state"],
): readonly DecisionWarning[] {
  const { maxOutputTokens, reasoning } = call;
  const unsupportedParts = {
    maxOutputTokens: maxOutputTokens !== undefined,
    reasoning: reasoning !== undefined && reasoning !== "provider-default",
  };
  const isText = call.state.length === 1 && call.state[0]?.type === "text";
  const details = "Set it when you create the evaluator, if its transport has this option.";
  return [
    ...Object.entries(unsupportedParts)
      .filter(([, isGiven]) => isGiven)
      .map(([feature]) => ({ type: "unsupported" as const, feature, details })),
    ...(isText || typeof state !== "string" ? [] : [writtenAsText]),
  ];
}

const writtenAsText: DecisionWarning = {
  type: "compatibility",
  feature: "state",
  details:
    "The evaluation model reads one text or one JSON object; the parts were sent as one text.",
};
