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
    read: (requestBody, header) => readGateway(requestBody, endpoint, header),
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
  header: (headerName: string) => string | undefined,
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
  const stateParts = readList(givenValue, ["stateParts"]).map((partJson, partIndex): StatePart => {
    const partPath = ["stateParts", partIndex];
    const { type, text, value, mediaType, data } = readObject(partJson, partPath);
    if (type === "text" && typeof text === "string") return text;
    if (type === "json" && value !== undefined) return { json: value as never };
    const base64Bytes: unknown = isRecord(data) ? data["data"] : null;
    if (type === "file" && typeof mediaType === "string" && typeof base64Bytes === "string")
      return { image: `data:${mediaType};base64,${base64Bytes}` };
    throw wrongField(partPath, "is neither a text nor a json nor a file part");
  });
  const [only] = stateParts;
  if (only === undefined) throw wrongField(["stateParts"], "is empty");
  if (stateParts.length > 1) return stateParts;
  if (typeof only === "string") return only;
  return "json" in only && isRecord(only.json) ? (only.json as Record<string, never>) : stateParts;
}

function toBody(answeredEvaluation: Answered, questions: object) {
  const { answers, model, rounding, usage, costUsd, warnings, raw } = answeredEvaluation;
  const otherParts = otherFields(raw);
  const questionIds = Object.keys(questions);
  const allAnswers = questionIds.map((id) => {
    return [id, Object.hasOwn(answers, id) ? answers[id] : { type: "refusal" }] as const;
  });
  return {
    ...otherParts.body,
    answers: Object.fromEntries(allAnswers),
    model,
    rounding: {
      probabilityDecimals: rounding.probabilityDecimals,
      scoreDecimals: rounding.scoreDecimals,
    },
    ...(usage !== null && {
      usage: { ...otherParts.usage, ...usage, ...(costUsd !== null && { cost: costUsd }) },
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
