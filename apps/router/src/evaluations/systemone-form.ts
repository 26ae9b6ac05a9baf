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
  const body = readObject(requestJson, []);
  const questions = readQuestionMap(body["questions"], "systemone");
  const state = withAssets(readState(body["state"]), body["assets"]);
  const original = body["questions"] as Readonly<Record<string, { criteria?: unknown }>>;
  return {
    model: readName(body["model"], ["model"]),
    request: { state, questions },
    takesRefusals: false,
    write: (answeredEvaluation) => toBody(answeredEvaluation, original),
  };
}

/** Puts the bytes of named images into a state. @throws HttpError (400) */
function withAssets(state: State, givenValue: unknown): State {
  if (givenValue === undefined || givenValue === null) return state;
  const images = new Map(
    Object.entries(readObject(givenValue, ["assets"])).map(([name, asset]) => {
      const { format, data_base64: bytes } = readObject(asset, ["assets", name]);
      if (typeof format !== "string" || typeof bytes !== "string")
        throw wrongField(["assets", name], "has no format or no data_base64");
      return [name, `data:image/${format === "jpg" ? "jpeg" : format};base64,${bytes}`];
    }),
  );
  const parts: readonly StatePart[] = Array.isArray(state)
    ? state
    : [typeof state === "string" ? state : { json: state as never }];
  const namedStateParts = parts.map((part) => {
    const image = typeof part === "string" ? images.get(part) : undefined;
    if (image === undefined) return part;
    images.delete(part as string);
    return { image };
  });
  const [unusedAsset] = images.keys();
  if (unusedAsset === undefined) return namedStateParts;
  throw wrongField(["assets", unusedAsset], "is named by no part of the state");
}

/** Returns the answer in the vendor's form, with the levels as these questions wrote them. */
export function toBody(
  answeredEvaluation: Answered,
  questions: Readonly<Record<string, { criteria?: unknown }>>,
) {
  const { model, usage, costUsd, printed: printedAnswers, route, raw } = answeredEvaluation;
  const others = otherFields(raw);
  const toAnswers = (answers: Answered["answers"]) =>
    mapEntries(answers, (answer, id) => {
      const confidence =
        answers === printedAnswers ? undefined : confidenceIn(id, answeredEvaluation);
      const { toVendor, legend: legendOf } = formKinds[answer.type];
      const legend = legendOf?.(questions[id]?.criteria);
      return {
        ...(toVendor?.(answer) ?? answer),
        ...(confidence !== undefined && { confidence }),
        ...(legend !== undefined && { legend }),
      };
    });
  return {
    ...others.body,
    model,
    answers: toAnswers(answeredEvaluation.answers),
    usage: {
      ...others.usage,
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
  map: (value: TValue, id: string) => TMapped,
): Record<string, TMapped> {
  return Object.fromEntries(Object.entries(record).map(([id, value]) => [id, map(value, id)]));
}

/** Whether a body has the vendor's form rather than OpenAI's. */
export function isSystemone(body: unknown): boolean {
  return isRecord(body) && "state" in body && isRecord(body["questions"]);
}
