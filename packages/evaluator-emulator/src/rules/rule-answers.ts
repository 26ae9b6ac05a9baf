import { judgeInput } from "../answers/judge-input.ts";
import type { AnswerSource } from "../answers/judgement.ts";
import { lexicalJudge } from "../judge/lexical-judge.ts";
import type { Opinion } from "../judge/opinion.ts";
import { contentText } from "../questions/content-text.ts";
import type { EvaluationInput } from "../questions/evaluation-input.ts";
import { mapRecord } from "../questions/map-record.ts";
import { compileRule, type CompiledRule } from "./compile-rule.ts";
import { opinionOfRule } from "./opinion-of-rule.ts";
import type { Rule } from "./rule.ts";

/**
 * Answers as the user's rules say. For each question the first rule counts that is about the state
 * and fits the question; the questions no rule answers are left to the lexical judge.
 */
export function ruleAnswers(rules: readonly Rule[]): AnswerSource {
  const compiled = rules.map(compileRule);
  return (input) => {
    const text = contentText(input.state);
    const inForce = compiled.filter(({ isAbout }) => isAbout(text));
    const ruled = mapRecord(input.questions, (_question, id) => ruleOn(id, input, inForce));
    if (Object.values(ruled).every((opinion) => opinion === null)) return null;
    const judge = lexicalJudge(input.state);
    return { ...judgeInput(input, (question, id) => ruled[id] ?? judge(question)), basis: "rule" };
  };
}

function ruleOn(
  id: string,
  { questions }: EvaluationInput,
  rules: readonly CompiledRule[],
): Opinion | null {
  const question = questions[id];
  if (question === undefined) return null;
  for (const rule of rules) {
    const answer = rule.answerTo(id, questions);
    const opinion = answer === null ? null : opinionOfRule(question, answer);
    if (opinion !== null) return opinion;
  }
  return null;
}
