import type { Rounding } from "../evaluation.ts";
import { InvalidResponseError, RefusalError } from "../errors.ts";
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
  for (const [id, question] of Object.entries(questions)) {
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
      return checkChoice(check, Object.keys(question.criteria));
    case "score":
      return checkScore(check, question.criteria.length);
    case "boolean":
      if (!isProbability(answer["probability"])) outOfRange(id);
  }
}

function checkChoice({ id, answer, rounding }: AnswerToCheck, options: readonly string[]): void {
  const pickedAt = options.findIndex((option) => option === answer["choice"]);
  if (pickedAt < 0) broken(id, "choice-option", "picks an option that was not offered");
  const error = roundingError(rounding.probabilityDecimals);
  const probabilities = readDistribution({ id, answer, keys: options, error });
  const highest = probabilities.reduce((high, probability) => Math.max(high, probability), 0);
  const picked = probabilities[pickedAt] as number;
  if (highest > picked + 2 * error + TOLERANCE) {
    broken(id, "choice-highest", "picks an option that another one beats");
  }
}

function checkScore({ id, answer, rounding }: AnswerToCheck, levels: number): void {
  const { score } = answer;
  if (typeof score !== "number" || !(score >= 0 && score <= levels - 1)) {
    broken(id, "score-range", `has a score outside of 0 to ${levels - 1}`);
  }
  const error = roundingError(rounding.probabilityDecimals);
  const keys = Array.from({ length: levels }, (_, index) => String(index));
  const probabilities = readDistribution({ id, answer, keys, error });
  const mean = probabilities.reduce((sum, probability, index) => sum + index * probability, 0);
  const indexSum = (levels * (levels - 1)) / 2;
  const bound = indexSum * error + roundingError(rounding.scoreDecimals) + TOLERANCE;
  if (Math.abs(mean - score) > bound) {
    broken(id, "score-mean", "has a score that is not the weighted mean of its levels");
  }
}

/** The probabilities in the order of `keys`, after checking that they form one distribution. */
function readDistribution({
  id,
  answer,
  keys,
  error,
}: {
  id: string;
  answer: Record<string, unknown>;
  keys: readonly string[];
  error: number;
}): number[] {
  const given = answer["probabilities"];
  if (!isRecord(given) || Object.keys(given).length !== keys.length) brokenKeys(id);
  const probabilities = keys.map((key) => {
    if (!Object.hasOwn(given, key)) brokenKeys(id);
    const probability = given[key];
    return isProbability(probability) ? probability : outOfRange(id);
  });
  const sum = probabilities.reduce((total, probability) => total + probability, 0);
  if (Math.abs(sum - 1) > keys.length * error + TOLERANCE) {
    broken(id, "probabilities-sum", "has probabilities that do not sum to 1 within rounding");
  }
  return probabilities;
}

function checkIds(ids: readonly string[], answers: Readonly<Record<string, unknown>>): void {
  const missing = ids.find((id) => !Object.hasOwn(answers, id));
  if (missing !== undefined) broken(missing, "answer-ids", "is missing");
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
