import { isRecord } from "evaluator-kit";
import type { StatePart } from "evaluator-client";
import {
  type Answered,
  type AskedEvaluation,
  type EvaluationForm,
  readList,
  readObject,
  wrongField,
} from "./evaluation-form.ts";
import { otherFields } from "./other-fields.ts";
import { readQuestionMap, readState } from "./question-map.ts";

/** The gateway's two forms (contract section 4.1, and its successor). */
export const gatewayForms = ["evaluation-model", "decision-model"].map(
  (endpoint): EvaluationForm => ({
    endpoint,
    path: `/v4/ai/${endpoint}`,
    fieldStatus: null,
    read: (body, header) => readGateway(body, endpoint, header),
    error: (message, status, { param, code } = {}) => ({
      error: {
        message,
        type: errorTypes[status] ?? "internal_server_error",
        param: param === undefined ? null : { field: param },
        code: code ?? null,
      },
    }),
  }),
);

const errorTypes: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "forbidden",
  404: "model_not_found",
  413: "invalid_request_error",
  415: "invalid_request_error",
  422: "invalid_request_error",
  424: "failed_dependency",
  429: "rate_limit_exceeded",
};

function readGateway(
  requestJson: unknown,
  endpoint: string,
  header: (name: string) => string | undefined,
): AskedEvaluation {
  const body = readObject(requestJson, []);
  const questions = readQuestionMap(body["questions"], "gateway");
  const state = "stateParts" in body ? readParts(body["stateParts"]) : readState(body["state"]);
  return {
    model: header("ai-model-id") ?? null,
    request: { state, questions },
    takesRefusals: endpoint === "decision-model",
    write: (answeredEvaluation) => toBody(answeredEvaluation, questions),
  };
}

/** Returns the state of the successor's parts; a single one is a state itself. */
function readParts(givenValue: unknown) {
  const parts = readList(givenValue, ["stateParts"]).map((each, at): StatePart => {
    const path = ["stateParts", at];
    const { type, text, value, mediaType, data } = readObject(each, path);
    if (type === "text" && typeof text === "string") return text;
    if (type === "json" && value !== undefined) return { json: value as never };
    const bytes: unknown = isRecord(data) ? data["data"] : null;
    if (type === "file" && typeof mediaType === "string" && typeof bytes === "string")
      return { image: `data:${mediaType};base64,${bytes}` };
    throw wrongField(path, "is neither a text nor a json nor a file part");
  });
  const [only] = parts;
  if (only === undefined) throw wrongField(["stateParts"], "is empty");
  if (parts.length > 1) return parts;
  if (typeof only === "string") return only;
  return "json" in only && isRecord(only.json) ? (only.json as Record<string, never>) : parts;
}

function toBody(answeredEvaluation: Answered, questions: object) {
  const { answers, model, rounding, usage, costUsd, warnings, raw } = answeredEvaluation;
  const others = otherFields(raw);
  const ids = Object.keys(questions);
  const whole = ids.map((id) => {
    return [id, Object.hasOwn(answers, id) ? answers[id] : { type: "refusal" }] as const;
  });
  return {
    ...others.body,
    answers: Object.fromEntries(whole),
    model,
    rounding: {
      probabilityDecimals: rounding.probabilityDecimals,
      scoreDecimals: rounding.scoreDecimals,
    },
    ...(usage !== null && {
      usage: { ...others.usage, ...usage, ...(costUsd !== null && { cost: costUsd }) },
    }),
    warnings,
    providerMetadata: toMetadata(answeredEvaluation),
  };
}

/** Clients of the gateway read the price from `marketCost` (contract section 2.5). */
function toMetadata({
  providerMetadata,
  costUsd,
  printed: printedAnswers,
  route,
}: Answered): object {
  const gateway: unknown = { ...Object(providerMetadata["gateway"]), marketCost: String(costUsd) };
  return {
    ...providerMetadata,
    ...(costUsd !== null && { gateway }),
    ...((printedAnswers ?? route) !== null && {
      router: {
        ...(printedAnswers !== null && { printed: printedAnswers }),
        ...(route !== null && { route }),
      },
    }),
  };
}
