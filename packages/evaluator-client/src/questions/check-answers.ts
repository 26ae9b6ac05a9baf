import { InvalidResponseError, RefusalError } from "../errors.ts";
import type { Rounding } from "./answer.ts";
import { perQuestions } from "./request.ts";
import { type Question, type Questions, quoteName } from "./question.ts";
import { isRecord } from "./json.ts";

// Chosen: far above what sums lose in floating point, far below a printed decimal.
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
 * Rejects answers that do not answer exactly the questions asked (contract section 2.4). Rounded
 * values may differ from exact ones by half a unit in the last place each, and by no more.
 *
 * @throws InvalidResponseError naming the question and the rule.
 * @throws RefusalError naming the questions the model declined to answer.
 */
export function checkAnswers({ questions, answers, rounding }: AnswersToCheck): void {
  const asked = askedIn(questions);
  checkIds(asked, answers);
  let refused: string[] | null = null;
  for (const { id, type, keys } of asked) {
    const answer = answers[id];
    if (!isRecord(answer)) broken(id, "answer-type", "is not an object");
    else if (answer["type"] === "refusal") refused = [...(refused ?? []), id];
    else if (answer["type"] !== type) broken(id, "answer-type", `is not of the type ${type}`);
    else rules[type]({ id, keys, answer, rounding });
  }
  if (refused === null) return;
  const names = refused.slice(0, 5).map(quoteName).join(", ");
  const message = `The model declined to answer ${refused.length} of ${asked.length} questions: ${names}. Rephrase them or change the state.`;
  throw new RefusalError(message, { questionIds: refused });
}

/** What the check needs of a question. */
interface AskedQuestion {
  readonly id: string;
  readonly type: Question["type"];
  /** The keys of its distribution: the options, or the level indexes. */
  readonly keys: readonly string[];
}

const askedIn = perQuestions((questions): readonly AskedQuestion[] =>
  Object.entries(questions).map(([id, { type, criteria = {} }]) => ({
    id,
    type,
    keys: Object.keys(criteria),
  })),
);

interface AnswerToCheck {
  readonly id: string;
  readonly keys: readonly string[];
  readonly answer: Record<string, unknown>;
  readonly rounding: Rounding;
}

const rules = { choice: checkChoice, score: checkScore, boolean: checkBoolean };

function checkBoolean({ id, answer }: AnswerToCheck): void {
  if (!isProbability(answer["probability"])) outOfRange(id);
}

function checkChoice(check: AnswerToCheck): void {
  const { id, keys, answer, rounding } = check;
  // Our own string, not the equal one that was parsed: a key that is another string object in each
  // answer makes V8 compile this function over and over (benchmark: triage).
  const picked = keys[keys.indexOf(answer["choice"] as string)];
  if (picked === undefined) {
    broken(id, "choice-option", "picks an option that was not offered");
  }
  const { probabilities, highest } = readDistribution(check);
  const error = roundingError(rounding.probabilityDecimals);
  if (highest > (probabilities[picked] as number) + 2 * error + TOLERANCE) {
    broken(id, "choice-highest", "picks an option that another one beats");
  }
}

function checkScore(check: AnswerToCheck): void {
  const { id, keys, answer, rounding } = check;
  const { score } = answer;
  const last = keys.length - 1;
  if (typeof score !== "number" || !(score >= 0 && score <= last)) {
    broken(id, "score-range", `has a score outside of 0 to ${last}`);
  }
  const { probabilities } = readDistribution(check);
  const error = roundingError(rounding.probabilityDecimals);
  const bound = roundingError(rounding.scoreDecimals) + TOLERANCE;
  const least = meanFilled({ isFromTop: false, keys, probabilities, error });
  const most = meanFilled({ isFromTop: true, keys, probabilities, error });
  if (Math.max(least - score, score - most) > bound) {
    broken(id, "score-mean", "has a score that is not the weighted mean of its levels");
  }
}

interface Filling {
  readonly isFromTop: boolean;
  readonly keys: readonly string[];
  readonly probabilities: Readonly<Record<string, number>>;
  readonly error: number;
}

/**
 * The mean of one of the distributions that print so: each level has the least that it can, and what
 * is left of 1 fills them up, from the bottom or from the top. Without lists of its own, which were a
 * tenth of what a call allocates (benchmark: calls).
 */
function meanFilled({ isFromTop, keys, probabilities, error }: Filling): number {
  const { length } = keys;
  let left = 1;
  let mean = 0;
  for (let level = 0; level < length; level += 1) {
    const least = Math.max(0, (probabilities[keys[level] as string] as number) - error);
    left -= least;
    mean += level * least;
  }
  for (let step = 0; step < length && left > 0; step += 1) {
    const level = isFromTop ? length - 1 - step : step;
    const printed = probabilities[keys[level] as string] as number;
    const room = Math.min(1, printed + error) - Math.max(0, printed - error);
    const added = Math.min(left, room);
    left -= added;
    mean += level * added;
  }
  return mean;
}

interface Distribution {
  readonly probabilities: Record<string, number>;
  readonly highest: number;
}

/** Checks in one pass that the probabilities form one distribution. */
function readDistribution({ id, keys, answer, rounding }: AnswerToCheck): Distribution {
  const probabilities = answer["probabilities"];
  if (!isRecord(probabilities) || Object.keys(probabilities).length !== keys.length) brokenKeys(id);
  let sum = 0;
  let highest = 0;
  for (const key of keys) {
    const probability = probabilities[key];
    // What is inherited is no number.
    if (!isProbability(probability)) {
      return Object.hasOwn(probabilities, key) ? outOfRange(id) : brokenKeys(id);
    }
    sum += probability;
    highest = Math.max(highest, probability);
  }
  const error = roundingError(rounding.probabilityDecimals);
  if (Math.abs(sum - 1) > keys.length * error + TOLERANCE) {
    broken(id, "probabilities-sum", "has probabilities that do not sum to 1 within rounding");
  }
  return { probabilities: probabilities as Record<string, number>, highest };
}

function checkIds(
  asked: readonly AskedQuestion[],
  answers: Readonly<Record<string, unknown>>,
): void {
  for (const { id } of asked)
    if (!Object.hasOwn(answers, id)) broken(id, "answer-ids", "is missing");
  const answered = Object.keys(answers);
  if (answered.length === asked.length) return;
  const ids = new Set(asked.map(({ id }) => id));
  const extra = answered.find((id) => !ids.has(id)) as string;
  broken(extra, "answer-ids", "answers a question that was not asked");
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
