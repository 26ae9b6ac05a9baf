import * as z from "zod/mini";
import { describeIssue, mapRecord, toRecord } from "../json.ts";
import type { Opinion } from "../judge/evidence.ts";
import { contentText } from "../questions/content.ts";
import type { EvaluationInput } from "../questions/evaluation-input.ts";
import { allKinds, toKind, type QuestionInput } from "../questions/kinds/kinds.ts";

const numberNames = allKinds.flatMap((questionKind) =>
  questionKind.numbers === undefined ? [] : [questionKind.numbers],
);
const expectedText =
  "expected the probability of yes, 0 to 1, or an object of option (or level index) to " +
  `probability that sums to at most 1, or of ${numberNames.map((names) => names.join(", ")).join(" or ")}`;
const probabilitySchema = z.number().check(z.minimum(0, expectedText), z.maximum(1, expectedText));
// Printed values such as 0.33, 0.33 and 0.35 may sum to a little more than 1.
const highestShareSum = 1.01;

const sharesSchema = toRecord(probabilitySchema).check(
  z.refine((shares) => {
    const shareValues = Object.values(shares);
    const isNamed = numberNames.some((names) => hasNames(shares, names));
    return shareValues.length > 0 && (computeSum(shareValues) <= highestShareSum || isNamed);
  }, expectedText),
);

const ruleAnswerSchema = z.union([probabilitySchema, sharesSchema], { error: expectedText });

const matchSchema = z
  .string({ error: "expected text, or a regular expression such as /invoice|receipt/i" })
  .check(
    z.refine((matchedText) => matchedText !== "", "expected some text"),
    z.refine(isReadable, "is not a valid regular expression"),
  );

const ruleSchema = z.strictObject({
  match: z.optional(matchSchema),
  answers: toRecord(ruleAnswerSchema).check(
    z.refine((answers) => Object.keys(answers).length > 0, "expected at least 1 answer"),
  ),
});

const rulesSchema = z.array(ruleSchema, { error: "expected a JSON array" });

/**
 * The answers about a state that contains `match`: text in any case, or `/a regular expression/i`;
 * without it, any state. Each key of `answers` is a question's id or words of its instructions.
 */
export type Rule = z.infer<typeof ruleSchema>;

/** The probability of yes, or option (or level index) to probability. */
export type RuleAnswer = z.infer<typeof ruleAnswerSchema>;

function isReadable(matchedText: string): boolean {
  try {
    createTextTest(matchedText);
    return true;
  } catch {
    return false;
  }
}

/** Checks a list of rules. @throws {RangeError} names the source, and the rule and field. */
export function checkRules(rules: unknown, source: string): Rule[] {
  const { data, error } = rulesSchema.safeParse(rules);
  if (error === undefined) return data;
  throw new RangeError(`${source}: ${describeIssue(error, "rule")}`);
}

/**
 * Returns the opinions of the user's rules on a request, null if no rule fits. For each question the
 * first rule counts that matches the state and fits the question.
 *
 * @throws {Error} names the rule, counted from 1, and the field.
 */
export function ruleOpinions(rules: readonly Rule[]) {
  const compiledItems = checkRules(rules, "rules").map(compileRule);
  return (evaluationInput: EvaluationInput) => {
    const stateText = contentText(evaluationInput.state);
    const matchingRules = compiledItems.filter(({ matches }) => matches(stateText));
    const ruledFields = mapRecord(evaluationInput.questions, (questionInput, questionId) => {
      const answers = matchingRules.map((rule) =>
        rule.answerTo(questionId, evaluationInput.questions),
      );
      return answers.map((answer) => opinionOfRule(questionInput, answer)).find(Boolean) ?? null;
    });
    return Object.values(ruledFields).every((opinion) => opinion === null) ? null : ruledFields;
  };
}

function compileRule({ match, answers }: Rule) {
  const answerKeys = Object.keys(answers);
  return {
    matches: match === undefined ? () => true : createTextTest(match),
    answerTo(questionId: string, questions: EvaluationInput["questions"]): RuleAnswer | null {
      const answerKey = Object.hasOwn(answers, questionId)
        ? questionId
        : keyInInstructions(answerKeys, questionId, questions);
      return answerKey === undefined ? null : (answers[answerKey] ?? null);
    },
  };
}

/** @throws {SyntaxError} if the match is no valid regular expression. */
function createTextTest(matchedText: string): (stateText: string) => boolean {
  const [, source, flags = ""] = /^\/(.+)\/([a-z]*)$/s.exec(matchedText) ?? [];
  if (source === undefined) {
    const lowerMatch = matchedText.toLowerCase();
    return (stateText) => stateText.toLowerCase().includes(lowerMatch);
  }
  const pattern = new RegExp(source, flags.replaceAll(/[gy]/g, ""));
  return (stateText) => pattern.test(stateText);
}

/** Returns the first key that occurs in the question's instructions and is no other question's id. */
function keyInInstructions(
  keys: readonly string[],
  questionId: string,
  questions: EvaluationInput["questions"],
): string | undefined {
  const instructions = contentText(questions[questionId]?.instructions ?? null).toLowerCase();
  return keys.find(
    (optionKey) =>
      !Object.hasOwn(questions, optionKey) && instructions.includes(optionKey.toLowerCase()),
  );
}

/** Returns a rule's answer as an opinion; null if it does not fit the question. */
function opinionOfRule(questionInput: QuestionInput, answer: RuleAnswer | null): Opinion | null {
  const questionKind = toKind(questionInput);
  const optionNames = questionKind.namesOf(questionInput);
  if (answer === null) return null;
  const probabilities = questionKind.isDistribution
    ? fillShares(optionNames, answer)
    : readNumbers(optionNames, answer);
  return probabilities === null ? null : { probabilities, isInformed: true };
}

/** Reads the probability of yes, or several numbers by name. */
function readNumbers(names: readonly string[], answer: RuleAnswer): number[] | null {
  if (typeof answer === "number") return names.length === 1 ? [answer] : null;
  const hasAllNumbers = names.length > 1 && hasNames(answer, names);
  return hasAllNumbers ? names.map((optionName) => answer[optionName] ?? 0) : null;
}

function hasNames(shares: Readonly<Record<string, number>>, names: readonly string[]): boolean {
  return Object.keys(shares).toSorted().join() === names.toSorted().join();
}

/** Options and levels that a rule leaves out share the rest of 1. */
function fillShares(optionNames: readonly string[], shares: RuleAnswer): number[] | null {
  if (typeof shares === "number") return null;
  const ruledNames = Object.keys(shares);
  if (!ruledNames.every((optionName) => optionNames.includes(optionName))) return null;
  const remainingShare =
    Math.max(0, 1 - computeSum(Object.values(shares))) / (optionNames.length - ruledNames.length);
  const filledValues = optionNames.map((optionName) =>
    Object.hasOwn(shares, optionName) ? (shares[optionName] ?? 0) : remainingShare,
  );
  const shareSum = computeSum(filledValues);
  return shareSum > 0 ? filledValues.map((share) => share / shareSum) : null;
}

function computeSum(addends: readonly number[]): number {
  return addends.reduce((total, addend) => total + addend, 0);
}
