import { contentText } from "../questions/content-text.ts";
import type { EvaluationInput } from "../questions/evaluation-input.ts";
import { patternOf, type Rule, type RuleAnswer } from "./rule.ts";

/** A rule that is ready to be asked. */
export interface CompiledRule {
  /** Whether a state's text is one the rule speaks about. */
  readonly isAbout: (stateText: string) => boolean;
  /** What the rule says to a question of a request, or null. */
  readonly answerTo: (id: string, questions: EvaluationInput["questions"]) => RuleAnswer | null;
}

/** Makes a rule ready; its regular expression is compiled once. */
export function compileRule({ match, answers }: Rule): CompiledRule {
  const keys = Object.keys(answers);
  return {
    isAbout: match === undefined ? () => true : textTest(match),
    answerTo(id, questions) {
      const key = Object.hasOwn(answers, id) ? id : keyInInstructions(keys, id, questions);
      return key === undefined ? null : (answers[key] ?? null);
    },
  };
}

function textTest(match: string): (text: string) => boolean {
  const pattern = patternOf(match);
  if (pattern !== null) return (text) => pattern.test(text);
  const wanted = match.toLowerCase();
  return (text) => text.toLowerCase().includes(wanted);
}

/** The first key that the question's instructions hold and that is no other question's id. */
function keyInInstructions(
  keys: readonly string[],
  id: string,
  questions: EvaluationInput["questions"],
): string | undefined {
  const instructions = contentText(questions[id]?.instructions ?? null).toLowerCase();
  return keys.find(
    (key) => !Object.hasOwn(questions, key) && instructions.includes(key.toLowerCase()),
  );
}
