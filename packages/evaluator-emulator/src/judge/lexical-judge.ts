import { contentText } from "../questions/content-text.ts";
import type { Content, QuestionInput } from "../questions/evaluation-input.ts";
import { judgeBoolean } from "./judge-boolean.ts";
import { judgeChoice } from "./judge-choice.ts";
import { judgeScore } from "./judge-score.ts";
import type { Opinion } from "./opinion.ts";
import { profileState, type TextProfile } from "./text-profile.ts";

/**
 * Judges questions about one state by the words they share, a stand-in for the real model.
 * Reads what the contract says the model sees (section 1.5) and nothing else.
 */
export function lexicalJudge(state: Content): (question: QuestionInput) => Opinion {
  const profile = profileState(contentText(state));
  return (question) => judge(profile, question);
}

function judge(state: TextProfile, question: QuestionInput): Opinion {
  if (question.type === "choice") return judgeChoice(state, question);
  if (question.type === "score") return judgeScore(state, question);
  return judgeBoolean(state, question);
}
