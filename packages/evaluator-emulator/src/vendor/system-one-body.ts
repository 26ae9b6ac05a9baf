import type { JudgedAnswer, Judgement } from "../answers/judgement.ts";
import type { QuestionInput, ScoreInput } from "../questions/evaluation-input.ts";
import { mapRecord } from "../questions/map-record.ts";
import type { VendorRequest } from "./parse-vendor-input.ts";

/**
 * The body of an answered direct evaluation (contract section 2.6).
 *
 * @param model - The release or stand-in that answered.
 */
export function systemOneBody({ input }: VendorRequest, judgement: Judgement, model: string) {
  return {
    model,
    answers: mapRecord(judgement.answers, (answer, id) =>
      toVendorAnswer(answer, input.questions[id]),
    ),
    usage: {
      input_tokens: judgement.usage.inputTokens,
      output_tokens: judgement.usage.outputTokens,
    },
  };
}

function toVendorAnswer(answer: JudgedAnswer, question: QuestionInput | undefined) {
  if (answer.type === "boolean") return { type: "noul", noul: answer.probability };
  if (answer.type === "score" && question?.type === "score") {
    return { ...answer, legend: legendOf(question) };
  }
  return answer;
}

function legendOf({ criteria }: ScoreInput) {
  return Object.fromEntries(criteria.entries());
}
