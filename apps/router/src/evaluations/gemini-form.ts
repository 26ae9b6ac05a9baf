import { isRecord } from "evaluator-kit";
import type { Answer, StatePart } from "evaluator-client";
import {
  type AskedEvaluation,
  readName,
  readObject,
  readText,
  wrongField,
} from "./evaluation-form.ts";
import { otherFields } from "./other-fields.ts";
import { formKinds } from "./question-kinds.ts";
import { readQuestionMap } from "./question-map.ts";
import { mapEntries, toBody } from "./systemone-form.ts";

/** Whether a body has Google's form: an input as in OpenAI's form, and a map of questions. */
export function isGemini(body: unknown): boolean {
  return isRecord(body) && "input" in body && isRecord(body["questions"]);
}

/** Reads a body of Google's form. @throws HttpError (400) */
export function readGemini(json: unknown): AskedEvaluation {
  const body = readObject(json, []);
  const plain = mapEntries(readObject(body["questions"], ["questions"]), plainQuestion);
  const questions = readQuestionMap(plain, "gemini");
  return {
    model: readName(body["model"], ["model"]),
    request: { state: readInput(body["input"]), questions },
    takesRefusals: false,
    write(answeredEvaluation) {
      const { answers } = toBody(answeredEvaluation, plain);
      const { inputTokens = 0, outputTokens = 0 } = answeredEvaluation.usage ?? {};
      const others = otherFields(answeredEvaluation.raw);
      const confidence = mapEntries(answeredEvaluation.answers, greatestProbability);
      return {
        ...others.body,
        answers: mapEntries(answers, (answer, id) => ({ ...answer, confidence: confidence[id] })),
        usage: {
          ...others.usage,
          total_input_tokens: inputTokens,
          total_output_tokens: outputTokens,
          total_tokens: inputTokens + outputTokens,
        },
      };
    },
  };
}

/** Returns a question with the names of the vendor's form. */
function plainQuestion(givenValue: unknown, id: string) {
  const { instructions, criteria, ...question } = readObject(givenValue, ["questions", id]);
  const parts = [instructions].flat();
  const isText = parts.every((part) => isRecord(part) && typeof part["text"] === "string");
  const text = parts.map((part) => Object(part)["text"]).join("\n");
  const isYesNo = question["type"] === formKinds.boolean.names.gemini;
  const { true_description: yes, false_description: no } = Object(criteria);
  return {
    ...question,
    instructions: isText ? text : instructions,
    criteria: isYesNo && criteria ? { true: yes, false: no } : criteria,
  };
}

function readInput(input: unknown): StatePart[] | string {
  if (typeof input === "string") return input;
  const parts = [input].flat();
  if (parts.length === 0) throw wrongField(["input"], "is empty");
  return parts.map((each, at) => {
    const place = ["input", at];
    const { type, text, data, uri, mime_type: mimeType } = readObject(each, place);
    if (type === "text") return readText(text, [...place, "text"]);
    if (type !== "image") throw wrongField([...place, "type"], "is none of text, image");
    if (typeof uri === "string") return { image: uri };
    if (typeof data === "string" && typeof mimeType === "string")
      return { image: `data:${mimeType};base64,${data}` };
    throw wrongField(place, "has no uri, and no data with a mime_type");
  });
}

/** Google's confidence: the probability of the most probable outcome. */
function greatestProbability(answer: Answer): number | undefined {
  if ("probabilities" in answer) return Math.max(...Object.values(answer.probabilities));
  return "probability" in answer ? Math.max(answer.probability, 1 - answer.probability) : undefined;
}
