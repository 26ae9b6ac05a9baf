import type { Rounding } from "../evaluation.ts";
import { InvalidResponseError, RefusalError } from "../errors.ts";
import { perQuestion } from "./per-question.ts";
import type { Question, Questions } from "./question.ts";
import { quoteName } from "./quote-name.ts";
import { isRecord } from "./record-of.ts";

const TOLERANCE = 1e-6;

/** The rules an answer can break. */
export type AnswerRule =
  | "answer-ids"
  | "answer-type"
  | "choice-option"
  | "choice-highest"
  | "probabilities-keys"
  | "probabilities-range"
  | "probabilities-sum"
  | "score-range"
  | "score-mean";

/** What to check: the questions asked, the answers that came, and how they were rounded. */
export interface AnswersToCheck {
  readonly questions: Questions;
  readonly answers: Readonly<Record<string, unknown>>;
  readonly rounding: Rounding;
}

/**
 * Refuses answers that do not answer exactly the questions asked (contract section 2.4). Rounded
 * values may differ from exact ones by half a unit in the last place each, and by no more.
 *
 * @throws InvalidResponseError naming the question and the rule.
 * @throws RefusalError naming the questions the model declined to answer.
 */
export function checkAnswers({ questions, answers, rounding }: AnswersToCheck): void {
  const ids = Object.keys(questions);
  checkIds(ids, answers);
  const refused: string[] = [];
  for (const id of ids) {
    const question = questions[id] as Question;
    const answer = answers[id];
    if (!isRecord(answer)) broken(id, "answer-type", "is not an object");
    else if (answer["type"] === "refusal") refused.push(id);
    else checkAnswer({ id, question, answer, rounding });
  }
  if (refused.length === 0) return;
  const names = refused.slice(0, 5).map(quoteName).join(", ");
  const message = `The model declined to answer ${refused.length} of ${ids.length} questions: ${names}. Rephrase them or change the state.`;
  throw new RefusalError(message, { questionIds: refused });
}

interface AnswerToCheck {
  readonly id: string;
  readonly question: Question;
  readonly answer: Record<string, unknown>;
  readonly rounding: Rounding;
}

function checkAnswer(check: AnswerToCheck): void {
  const { id, question, answer } = check;
  if (answer["type"] !== question.type) {
    broken(id, "answer-type", `is not of the type ${question.type}`);
  }
  switch (question.type) {
    case "choice":
      return checkChoice(check, keysOf(question));
    case "score":
      return checkScore(check, keysOf(question));
    case "boolean":
      if (!isProbability(answer["probability"])) outOfRange(id);
  }
}

/** The keys of a question's distribution: its options, or its level indexes. */
const keysOf = perQuestion(({ criteria }) => Object.keys(criteria ?? {}));

function checkChoice(check: AnswerToCheck, options: readonly string[]): void {
  const { id, answer, rounding } = check;
  const picked = options.indexOf(answer["choice"] as string);
  if (picked < 0) broken(id, "choice-option", "picks an option that was not offered");
  const { values, highest } = readDistribution(check, options);
  const error = roundingError(rounding.probabilityDecimals);
  if (highest > (values[picked] as number) + 2 * error + TOLERANCE) {
    broken(id, "choice-highest", "picks an option that another one beats");
  }
}

function checkScore(check: AnswerToCheck, levels: readonly string[]): void {
  const { id, answer, rounding } = check;
  const { score } = answer;
  const last = levels.length - 1;
  if (typeof score !== "number" || !(score >= 0 && score <= last)) {
    broken(id, "score-range", `has a score outside of 0 to ${last}`);
  }
  const { mean } = readDistribution(check, levels);
  const indexSum = (levels.length * last) / 2;
  const error = roundingError(rounding.probabilityDecimals);
  const bound = indexSum * error + roundingError(rounding.scoreDecimals) + TOLERANCE;
  if (Math.abs(mean - score) > bound) {
    broken(id, "score-mean", "has a score that is not the weighted mean of its levels");
  }
}

interface Distribution {
  /** The probabilities in the order of the keys. */
  readonly values: readonly number[];
  readonly highest: number;
  /** The mean of the keys' positions. */
  readonly mean: number;
}

/** Reads the probabilities in one pass, and checks that they form one distribution. */
function readDistribution(
  { id, answer, rounding }: AnswerToCheck,
  keys: readonly string[],
): Distribution {
  const given = answer["probabilities"];
  if (!isRecord(given) || Object.keys(given).length !== keys.length) brokenKeys(id);
  const values: number[] = [];
  let [sum, highest, mean] = [0, 0, 0];
  for (const key of keys) {
    const probability = given[key];
    // What is inherited is no number.
    if (!isProbability(probability)) return Object.hasOwn(given, key) ? outOfRange(id) : brokenKeys(id);
    sum += probability;
    mean += values.length * probability;
    highest = Math.max(highest, probability);
    values.push(probability);
  }
  const error = roundingError(rounding.probabilityDecimals);
  if (Math.abs(sum - 1) > keys.length * error + TOLERANCE) {
    broken(id, "probabilities-sum", "has probabilities that do not sum to 1 within rounding");
  }
  return { values, highest, mean };
}

function checkIds(ids: readonly string[], answers: Readonly<Record<string, unknown>>): void {
  const missing = ids.find((id) => !Object.hasOwn(answers, id));
  if (missing !== undefined) broken(missing, "answer-ids", "is missing");
  if (Object.keys(answers).length === ids.length) return;
  const asked = new Set(ids);
  const extra = Object.keys(answers).find((id) => !asked.has(id));
  if (extra !== undefined) broken(extra, "answer-ids", "answers a question that was not asked");
}

function isProbability(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= 1;
}

/** Half a unit in the last printed place. */
function roundingError(decimals: number): number {
  return 0.5 * 10 ** -decimals;
}

function brokenKeys(id: string): never {
  broken(id, "probabilities-keys", "does not have one probability for every option or level");
}

function outOfRange(id: string): never {
  broken(id, "probabilities-range", "has a probability that is not a number from 0 to 1");
}

function broken(questionId: string, rule: AnswerRule, what: string): never {
  const message = `The answer ${quoteName(questionId)} ${what} (rule ${rule}); it is not used, and asking again may not help.`;
  throw new InvalidResponseError(message, { questionId, rule });
}
