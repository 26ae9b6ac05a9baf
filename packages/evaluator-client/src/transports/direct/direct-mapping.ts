import type * as z from "zod";
import type { EvaluationRequest } from "../../questions/request.ts";
import { InvalidResponseError } from "../../errors.ts";
import { headerOf, type JsonResponse } from "../../http/http-client.ts";
import { perQuestions } from "../../questions/constant-questions.ts";
import type { Question } from "../../questions/question.ts";
import type { TransportReply } from "../transport.ts";
import {
  type DirectAnswer,
  type DirectResponse,
  directResponseSchema,
  isDirectResponse,
} from "./direct-wire.ts";

const toQuestionsJson = perQuestions((questions) =>
  JSON.stringify(mapRecord(questions, toDirectQuestion)),
);

/** The request body of the vendor's API as JSON: the model in it, and `boolean` named `noul`. */
export function toDirectBody({ state, questions }: EvaluationRequest, model: string): string {
  return `{"model":${JSON.stringify(model)},"state":${JSON.stringify(state)},"questions":${toQuestionsJson(questions)}}`;
}

/** Moves the vendor's response into the gateway's form (contract section 2.6). */
export function fromDirectResponse(
  response: JsonResponse,
  vendor: string,
): Pick<TransportReply, "response" | "modelId" | "requestId"> {
  const { json } = response;
  if (!isDirectResponse(json)) throw invalidBody(json);
  const { answers, usage, model = null } = json;
  const vendorMetadata = {
    confidence: pick(answers, "confidence"),
    legend: pick(answers, "legend"),
  };
  return {
    response: {
      answers: mapRecord(answers, toGatewayAnswer),
      rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
      usage: { inputTokens: usage.input_tokens, outputTokens: usage.output_tokens },
      warnings: [],
      providerMetadata: { [vendor]: vendorMetadata },
    },
    modelId: model,
    requestId: directRequestId(response),
  };
}

/** Returns the vendor's id of a request from the headers of its response, or null. */
export function directRequestId(response: JsonResponse): string | null {
  return headerOf(response, "x-typesafe-request-id") ?? headerOf(response, "x-request-id");
}

function toDirectQuestion(question: Question): object {
  return question.type === "boolean" ? { ...question, type: "noul" } : question;
}

function toGatewayAnswer(answer: DirectAnswer): object {
  if (answer.type === "noul") return { type: "boolean", probability: answer["noul"] };
  // The gateway keeps these two elsewhere.
  const { confidence: _confidence, legend: _legend, ...rest } = answer;
  return rest;
}

/** One field of every answer that has it, by question id. */
function pick(answers: DirectResponse["answers"], field: "confidence" | "legend"): object {
  const picked: [string, unknown][] = [];
  for (const id of Object.keys(answers)) {
    const answer = answers[id] as DirectAnswer;
    if (Object.hasOwn(answer, field)) picked.push([id, answer[field]]);
  }
  return Object.fromEntries(picked);
}

function mapRecord<TValue>(
  record: Readonly<Record<string, TValue>>,
  map: (value: TValue) => object,
): object {
  // Object.fromEntries keeps an id such as __proto__ as data.
  return Object.fromEntries(Object.entries(record).map(([id, value]) => [id, map(value)]));
}

function invalidBody(json: unknown): InvalidResponseError {
  const { issues } = directResponseSchema.safeParse(json).error as z.ZodError;
  // Below `answers` the names are the server's own, and may repeat anything.
  const [place] = issues.map(({ path }) => (path[0] === "answers" ? "answers" : path.join(".")));
  const where = place ? `at ${place}` : "as a whole";
  const message = `The response body does not have the vendor's shape ${where}; check the base URL.`;
  return new InvalidResponseError(message, { questionId: null, rule: "body-shape" });
}
