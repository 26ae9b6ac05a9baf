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
export function isGemini(requestBody: unknown): boolean {
  return isRecord(requestBody) && "input" in requestBody && isRecord(requestBody["questions"]);
}

/** Reads a body of Google's form. @throws HttpError (400) */
export function readGemini(requestJson: unknown): AskedEvaluation {
  const requestBody = readObject(requestJson, []);
  const plain = mapEntries(readObject(requestBody["questions"], ["questions"]), plainQuestion);
  const questions = readQuestionMap(plain, "gemini");
  return {
    model: readName(requestBody["model"], ["model"]),
    request: { state: readInput(requestBody["input"]), questions },
    takesRefusals: false,
    write(answeredEvaluation) {
      const { answers } = toBody(answeredEvaluation, plain);
      const { inputTokens = 0, outputTokens = 0 } = answeredEvaluation.usage ?? {};
      const otherParts = otherFields(answeredEvaluation.raw);
      const confidence = mapEntries(answeredEvaluation.answers, greatestProbability);
      return {
        ...otherParts.body,
        answers: mapEntries(answers, (answer, id) => ({ ...answer, confidence: confidence[id] })),
        usage: {
          ...otherParts.usage,
          total_input_tokens: inputTokens,
          total_output_tokens: outputTokens,
          total_tokens: inputTokens + outputTokens,
        },
      };
    },
  };
}

/** Returns a question with the names of the vendor's form. */
function plainQuestion(givenValue: unknown, questionId: string) {
  const { instructions, criteria, ...question } = readObject(givenValue, ["questions", questionId]);
  const textParts = [instructions].flat();
  const isText = textParts.every((part) => isRecord(part) && typeof part["text"] === "string");
  const plainText = textParts.map((textPart) => Object(textPart)["text"]).join("\n");
  const isYesNo = question["type"] === formKinds.boolean.names.gemini;
  const { true_description: yesText, false_description: noText } = Object(criteria);
  return {
    ...question,
    instructions: isText ? plainText : instructions,
    criteria: isYesNo && criteria ? { true: yesText, false: noText } : criteria,
  };
}

function readInput(inputJson: unknown): StatePart[] | string {
  if (typeof inputJson === "string") return inputJson;
  const inputParts = [inputJson].flat();
  if (inputParts.length === 0) throw wrongField(["input"], "is empty");
  return inputParts.map((inputPart, partIndex) => {
    const partPath = ["input", partIndex];
    const { type, text, data, uri, mime_type: mimeType } = readObject(inputPart, partPath);
    if (type === "text") return readText(text, [...partPath, "text"]);
    if (type !== "image") throw wrongField([...partPath, "type"], "is none of text, image");
    if (typeof uri === "string") return { image: uri };
    if (typeof data === "string" && typeof mimeType === "string")
      return { image: `data:${mimeType};base64,${data}` };
    throw wrongField(partPath, "has no uri, and no data with a mime_type");
  });
}

/** Google's confidence: the probability of the most probable outcome. */
function greatestProbability(answer: Answer): number | undefined {
  if ("probabilities" in answer) return Math.max(...Object.values(answer.probabilities));
  return "probability" in answer ? Math.max(answer.probability, 1 - answer.probability) : undefined;
}
