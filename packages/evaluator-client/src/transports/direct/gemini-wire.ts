import { RefusalError } from "../../errors.ts";
import { isRecord, mapRecord, textAt, valueAt } from "../../questions/json.ts";
import { mapWordings, wordingText } from "../../questions/wording.ts";
import type { KindName, Questions } from "../../questions/kinds.ts";
import type { BooleanQuestion } from "../../questions/kinds/boolean.ts";
import { type EvaluationRequest, perQuestions } from "../../questions/request.ts";
import { type ImageData, toImageData, isImage, type StatePart } from "../../questions/state.ts";
import { invalidBody } from "../../questions/rejections.ts";
import { toText } from "./decisions-wire.ts";
import {
  areAnswers,
  type DirectForm,
  type DirectReply,
  type DirectServer,
  readAnswers,
} from "./direct-wire.ts";
import { forms } from "./forms.ts";

/** Google's form. */
export const geminiForm: DirectForm = {
  toBody({ state, questions }: EvaluationRequest, model: string) {
    const input = Array.isArray(state) ? state.map(toContent) : toText(state);
    return `{"model":${JSON.stringify(model)},"input":${JSON.stringify(input)},"questions":${toQuestionsJson(questions)}}`;
  },
  read: readGemini,
};

function toContent(part: StatePart): object {
  if (!isImage(part))
    return { type: "text", text: toText(typeof part === "string" ? part : part.json) };
  // Addresses were rejected with the request.
  const { format, base64 } = toImageData(part) as ImageData;
  return { type: "image", mime_type: `image/${format}`, data: base64 };
}

/** The kinds that are written in another way than here. */
const geminiKinds: Partial<Record<KindName, (question: never) => object>> = {
  boolean: ({ instructions, criteria }: BooleanQuestion) => ({
    type: "noul",
    instructions,
    ...(criteria && {
      criteria: { true_description: criteria.true, false_description: criteria.false },
    }),
  }),
};

const toQuestionsJson = perQuestions((questions) => {
  const texts = mapRecord(questions, (question) => {
    const textQuestion = mapWordings(question, (wording) => wording && wordingText(wording));
    return geminiKinds[question.type]?.(textQuestion as never) ?? textQuestion;
  });
  return JSON.stringify(texts);
});

/** Maps a response. A blocked input is a success without answers. */
function readGemini(json: unknown, questions: Questions, server: DirectServer): DirectReply {
  const reason = valueAt(json, "prompt_feedback", "block_reason") ?? null;
  const usage = readUsage(valueAt(json, "usage"));
  if (reason !== null) {
    throw Object.assign(blocked(reason, Object.keys(questions)), { usage });
  }
  const answers = valueAt(json, "answers");
  if (!areAnswers(answers)) throw invalidBody(forms.gemini.path, "at answers");
  return {
    model: textAt(json, "model"),
    usage,
    ...readAnswers(answers, server),
    // Its confidence is the greatest probability.
    definesConfidence: false,
  };
}

function blocked(reason: unknown, questionIds: readonly string[]): RefusalError {
  const isName = typeof reason === "string" && /^\w{1,40}$/.test(reason);
  const why = isName ? ` (${reason})` : "";
  const message = `Google blocked the input${why} and answered no question. Change the state, or ask another service.`;
  return new RefusalError(message, { questionIds });
}

function readUsage(usage: unknown): DirectReply["usage"] {
  if (!isRecord(usage)) return null;
  const { total_input_tokens: inputTokens, total_output_tokens: outputTokens = 0 } = usage;
  if (!Number.isInteger(inputTokens) || !Number.isInteger(outputTokens)) return null;
  return { inputTokens: inputTokens as number, outputTokens: outputTokens as number };
}
