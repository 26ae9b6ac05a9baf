import type { Answer, Questions } from "evaluator-client";
import { sampleAnswers } from "../exchange/sample-answers.ts";
import type { GivenAnswers } from "./target.ts";

/** Throws unless the answers are the ones that the server was told to give. */
export type VerifyAnswers = (answers: GivenAnswers) => void;

/** Makes a check that is cheap enough to run on every call: one value of each answer. */
export function verifierFor(questions: Questions): VerifyAnswers {
  const entries = Object.entries(sampleAnswers(questions));
  const expected = entries.map(([id, answer]) => decisiveValue(id, answer));
  return (answers) => {
    for (const { id, field, vendorField, value } of expected) {
      const answer = answers[id] as Record<string, unknown> | undefined;
      if (answer?.[field] === value || answer?.[vendorField] === value) continue;
      throw new Error(
        `Not the answer expected to ${JSON.stringify(id)}: ${JSON.stringify(answer)} instead of ${JSON.stringify(value)}.`,
      );
    }
  };
}

function decisiveValue(id: string, answer: Answer) {
  const { type } = answer;
  if (type === "choice") return { id, field: type, vendorField: type, value: answer.choice };
  if (type === "score") return { id, field: type, vendorField: type, value: answer.score };
  return { id, field: "probability", vendorField: "noul", value: answer.probability };
}
