import { InvalidResponseError, RefusalError } from "../errors.ts";
import { isRecord, quoteName } from "./json.ts";
import { type KindName, type Kinds, type Questions, questionKinds } from "./kinds.ts";
import type { Rounding } from "./kinds/kind.ts";
import { perQuestions } from "./request.ts";

/** The rules an answer can break. */
export type AnswerRule =
  | "answer-ids"
  | "answer-type"
  | NonNullable<ReturnType<Kinds[KindName]["check"]>>["rule"];

/** The questions asked, the answers received, and their rounding. */
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
    else {
      const flaw = questionKinds[type].check(keys, answer, rounding);
      if (flaw !== null) broken(id, flaw.rule as AnswerRule, flaw.what);
    }
  }
  if (refused === null) return;
  const names = refused.slice(0, 5).map(quoteName).join(", ");
  const message = `The model declined to answer ${refused.length} of ${asked.length} questions: ${names}. Rephrase them or change the state.`;
  throw new RefusalError(message, { questionIds: refused });
}

/** A question, as the check uses it. */
interface AskedQuestion {
  readonly id: string;
  readonly type: KindName;
  readonly keys: readonly string[];
}

const askedIn = perQuestions((questions): readonly AskedQuestion[] =>
  Object.entries(questions).map(([id, question]) => ({
    id,
    type: question.type,
    keys: questionKinds[question.type].keys(question),
  })),
);

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

function broken(questionId: string, rule: AnswerRule, what: string): never {
  const message = `The answer ${quoteName(questionId)} ${what} (rule ${rule}); it is not used, and asking again may not help.`;
  throw new InvalidResponseError(message, { questionId, rule });
}
