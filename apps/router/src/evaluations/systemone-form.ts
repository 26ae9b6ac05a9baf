import { isRecord } from "evaluator-kit";
import type { State, StatePart } from "evaluator-client";
import {
  type Answered,
  type AskedEvaluation,
  confidenceIn,
  type EvaluationForm,
  readName,
  readObject,
  wrongField,
} from "./evaluation-form.ts";
import { otherFields } from "./other-fields.ts";
import { formKinds } from "./question-kinds.ts";
import { readQuestionMap, readState } from "./question-map.ts";

/** The vendor's form (contract sections 2.6 and 4.5), which most services and their SDKs speak. */
export const systemoneForm: EvaluationForm = {
  endpoint: "systemone",
  path: "/v1/systemone",
  requestIdHeader: "x-typesafe-request-id",
  fieldStatus: 422,
  read: readSystemone,
  error(message, status, { path, code } = {}) {
    if (path !== undefined) {
      return { detail: [{ loc: ["body", ...path], msg: message, type: "value_error" }] };
    }
    return { detail: { error_type: code ?? errorTypes[status] ?? "api_error", message } };
  },
};

const errorTypes: Readonly<Record<number, string>> = {
  400: "api_usage_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found",
  413: "request_too_large",
  422: "api_usage_error",
  429: "rate_limit_exceeded",
};

/** Reads a body of the vendor's form. @throws HttpError (400) */
export function readSystemone(requestJson: unknown): AskedEvaluation {
  const requestBody = readObject(requestJson, []);
  const questions = readQuestionMap(requestBody["questions"], "systemone");
  const state = withAssets(readState(requestBody["state"]), requestBody["assets"]);
  const original = requestBody["questions"] as Readonly<Record<string, { criteria?: unknown }>>;
  return {
    model: readName(requestBody["model"], ["model"]),
    request: { state, questions },
    takesRefusals: false,
    write: (answeredEvaluation) => toBody(answeredEvaluation, original),
  };
}

/** Puts the bytes of named images into a state. @throws HttpError (400) */
function withAssets(state: State, givenValue: unknown): State {
  if (givenValue === undefined || givenValue === null) return state;
  const assetImages = new Map(
    Object.entries(readObject(givenValue, ["assets"])).map(([assetName, assetJson]) => {
      const { format, data_base64: base64Bytes } = readObject(assetJson, ["assets", assetName]);
      if (typeof format !== "string" || typeof base64Bytes !== "string")
        throw wrongField(["assets", assetName], "has no format or no data_base64");
      return [assetName, `data:image/${format === "jpg" ? "jpeg" : format};base64,${base64Bytes}`];
    }),
  );
  const stateParts: readonly StatePart[] = Array.isArray(state)
    ? state
    : [typeof state === "string" ? state : { json: state as never }];
  const namedStateParts = stateParts.map((statePart) => {
    const image = typeof statePart === "string" ? assetImages.get(statePart) : undefined;
    if (image === undefined) return statePart;
    assetImages.delete(statePart as string);
    return { image };
  });
  const [unusedAsset] = assetImages.keys();
  if (unusedAsset === undefined) return namedStateParts;
  throw wrongField(["assets", unusedAsset], "is named by no part of the state");
}

/** Returns the answer in the vendor's form, with the levels as these questions wrote them. */
export function toBody(
  answeredEvaluation: Answered,
  questions: Readonly<Record<string, { criteria?: unknown }>>,
) {
  const { model, usage, costUsd, printed: printedAnswers, route, raw } = answeredEvaluation;
  const otherParts = otherFields(raw);
  const toAnswers = (givenAnswers: Answered["answers"]) =>
    mapEntries(givenAnswers, (givenAnswer, questionId) => {
      const confidence =
        givenAnswers === printedAnswers ? undefined : confidenceIn(questionId, answeredEvaluation);
      const { toVendor, legend: legendOf } = formKinds[givenAnswer.type];
      const legend = legendOf?.(questions[questionId]?.criteria);
      return {
        ...(toVendor?.(givenAnswer) ?? givenAnswer),
        ...(confidence !== undefined && { confidence }),
        ...(legend !== undefined && { legend }),
      };
    });
  return {
    ...otherParts.body,
    model,
    answers: toAnswers(answeredEvaluation.answers),
    usage: {
      ...otherParts.usage,
      input_tokens: usage?.inputTokens ?? 0,
      output_tokens: usage?.outputTokens ?? 0,
      ...(costUsd !== null && { cost: costUsd }),
    },
    ...(printedAnswers !== null && { x_printed: toAnswers(printedAnswers) }),
    ...(route !== null && { x_route: route }),
  };
}

/** Maps a record; an id such as __proto__ is data. */
export function mapEntries<TValue, TMapped>(
  record: Readonly<Record<string, TValue>>,
  mapValue: (entryValue: TValue, entryId: string) => TMapped,
): Record<string, TMapped> {
  return Object.fromEntries(Object.entries(record).map(([id, value]) => [id, mapValue(value, id)]));
}

/** Whether a body has the vendor's form rather than OpenAI's. */
export function isSystemone(requestBody: unknown): boolean {
  return isRecord(requestBody) && "state" in requestBody && isRecord(requestBody["questions"]);
}
