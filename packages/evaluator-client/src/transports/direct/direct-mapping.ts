import type { z } from "zod";
import type { EvaluationRequest } from "../../evaluation.ts";
import { InvalidResponseError } from "../../errors.ts";
import type { JsonResponse } from "../../http/json-endpoint.ts";
import { questionsJson } from "../questions-json.ts";
import type { TransportReply } from "../transport.ts";
import { type DirectAnswer, type DirectResponse, directResponseSchema } from "./direct-wire.ts";

/** Answer fields that the gateway's form keeps in `providerMetadata`. */
const movedFields = new Set(["confidence", "legend"]);

const toQuestionsJson = questionsJson((question) =>
  question.type === "boolean" ? { ...question, type: "noul" } : question,
);

/** The request body of the vendor's API as JSON: the model in it, and `boolean` named `noul`. */
export function toDirectBody({ state, questions }: EvaluationRequest, model: string): string {
  return `{"model":${JSON.stringify(model)},"state":${JSON.stringify(state)},"questions":${toQuestionsJson(questions)}}`;
}

/** Moves the vendor's response into the gateway's form (contract section 2.6). */
export function fromDirectResponse(
  { status, json, header }: JsonResponse,
  vendor: string,
): TransportReply {
  const { data, error } = directResponseSchema.safeParse(json);
  if (data === undefined) throw invalidBody(error);
  return {
    response: {
      answers: mapRecord(data.answers, toGatewayAnswer),
      rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
      usage: { inputTokens: data.usage.input_tokens, outputTokens: data.usage.output_tokens },
      warnings: [],
      providerMetadata: {
        [vendor]: { confidence: pick(data, "confidence"), legend: pick(data, "legend") },
      },
    },
    status,
    modelId: data.model ?? null,
    requestId: header("x-typesafe-request-id") ?? header("x-request-id"),
    raw: json,
  };
}

function toGatewayAnswer(answer: DirectAnswer): object {
  if (answer.type === "noul") return { type: "boolean", probability: answer["noul"] };
  return Object.fromEntries(Object.entries(answer).filter(([field]) => !movedFields.has(field)));
}

/** One field of every answer that has it, by question id. */
function pick({ answers }: DirectResponse, field: "confidence" | "legend"): object {
  const picked = Object.entries(answers).filter(([, answer]) => Object.hasOwn(answer, field));
  return Object.fromEntries(picked.map(([id, answer]) => [id, answer[field]]));
}

function mapRecord<TValue>(record: Record<string, TValue>, map: (value: TValue) => object): object {
  // Object.fromEntries keeps an id such as __proto__ as data.
  return Object.fromEntries(Object.entries(record).map(([id, value]) => [id, map(value)]));
}

function invalidBody({ issues }: z.ZodError): InvalidResponseError {
  // Below `answers` the names are the server's own, and may repeat anything.
  const [place] = issues.map(({ path }) => (path[0] === "answers" ? "answers" : path.join(".")));
  const where = place ? `at ${place}` : "as a whole";
  const message = `The response body does not have the vendor's shape ${where}; check the base URL.`;
  return new InvalidResponseError(message, { questionId: null, rule: "body-shape" });
}
