import { judgeInput } from "../answers/answer-request.ts";
import type { AnswerSource } from "../answers/judgement.ts";
import { mapRecord } from "../json.ts";
import { lexicalJudge } from "../judge/judge.ts";
import type { Opinion } from "../judge/shares.ts";
import { contentText } from "../questions/content.ts";
import type { EvaluationInput, QuestionInput } from "../questions/question.ts";
import { patternOf, type Rule, type RuleAnswer } from "./rule.ts";

/**
 * Answers as the user's rules say. For each question the first rule counts that is about the state
 * and fits the question; the questions no rule answers are left to the lexical judge.
 */
export function ruleAnswers(rules: readonly Rule[]): AnswerSource {
  const compiled = rules.map(compileRule);
  return (input, decimals) => {
    const text = contentText(input.state);
    const inForce = compiled.filter(({ isAbout }) => isAbout(text));
    const ruled = mapRecord(input.questions, (_question, id) => ruleOn(id, input, inForce));
    if (Object.values(ruled).every((opinion) => opinion === null)) return null;
    const judge = lexicalJudge(input.state);
    const opinionOn = (question: QuestionInput, id: string) => ruled[id] ?? judge(question);
    return { ...judgeInput(input, opinionOn, decimals), basis: "rule" };
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

/** A rule that is ready to be asked. */
interface CompiledRule {
  /** Whether a state's text is one the rule speaks about. */
  readonly isAbout: (stateText: string) => boolean;
  /** What the rule says to a question of a request, or null. */
  readonly answerTo: (id: string, questions: EvaluationInput["questions"]) => RuleAnswer | null;
}

/** Makes a rule ready; its regular expression is compiled once. */
function compileRule({ match, answers }: Rule): CompiledRule {
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

/**
 * Returns the first key that the question's instructions hold and that is no other question's id.
 */
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

/**
 * Returns a rule's answer as an opinion on a question; null when it does not fit the question.
 * Options and levels it leaves out share what is left of 1.
 */
function opinionOfRule(question: QuestionInput, answer: RuleAnswer): Opinion | null {
  if (question.type === "boolean") {
    return typeof answer === "number" ? { probabilities: [answer], isInformed: true } : null;
  }
  if (typeof answer === "number") return null;
  const probabilities = fillShares(Object.keys(question.criteria), answer);
  return probabilities === null ? null : { probabilities, isInformed: true };
}

function fillShares(
  names: readonly string[],
  shares: Readonly<Record<string, number>>,
): number[] | null {
  const given = Object.keys(shares);
  if (!given.every((name) => names.includes(name))) return null;
  const sum = Object.values(shares).reduce((total, share) => total + share, 0);
  const rest = Math.max(0, 1 - sum) / (names.length - given.length);
  const filled = names.map((name) => (Object.hasOwn(shares, name) ? (shares[name] ?? 0) : rest));
  const total = filled.reduce((whole, share) => whole + share, 0);
  return total > 0 ? filled.map((share) => share / total) : null;
}
