import { contentText } from "../questions/content-text.ts";
import type { Content, QuestionInput } from "../questions/evaluation-input.ts";
import { questionText } from "../questions/question-text.ts";
import { judgeBoolean } from "./judge-boolean.ts";
import { judgeChoice } from "./judge-choice.ts";
import { judgeScore } from "./judge-score.ts";
import type { Opinion } from "./opinion.ts";
import { remember } from "./remember.ts";
import { profileState, type TextProfile } from "./text-profile.ts";

// The same questions come with request after request.
const read = remember(readQuestion, {
  keyOf: (question) => `${question.type} ${questionText(question)}`,
  capacity: 1000,
});

/**
 * Judges questions about one state by the words they share, a stand-in for the real model.
 * Reads what the contract says the model sees (section 1.5) and nothing else.
 */
export function lexicalJudge(state: Content): (question: QuestionInput) => Opinion {
  const profile = profileState(contentText(state));
  return (question) => read(question)(profile);
}

function readQuestion(question: QuestionInput): (state: TextProfile) => Opinion {
  if (question.type === "choice") return judgeChoice(question);
  if (question.type === "score") return judgeScore(question);
  return judgeBoolean(question);
}
