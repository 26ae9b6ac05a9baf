import { RefusalError } from "./errors.ts";
import { isRecord, quoteName } from "./questions/json.ts";
import { type KindName, type Kinds, questionKinds, type Questions } from "./questions/kinds.ts";
import type { Rounding } from "./questions/kinds/kind.ts";
import { perQuestions } from "./questions/request.ts";
import { rejectAnswer } from "./questions/rejections.ts";

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
  const listedQuestions = listQuestions(questions);
  checkIds(listedQuestions, answers);
  let refusedIds: string[] | null = null;
  for (const { id, type, keys } of listedQuestions) {
    const answer = answers[id];
    if (!isRecord(answer)) broken(id, "answer-type", "is not an object");
    else if (answer["type"] === "refusal") refusedIds = [...(refusedIds ?? []), id];
    else if (answer["type"] !== type) broken(id, "answer-type", `is not of the type ${type}`);
    else {
      const flaw = questionKinds[type].check(keys, answer, rounding);
      if (flaw !== null) broken(id, flaw.rule as AnswerRule, flaw.what);
    }
  }
  if (refusedIds === null) return;
  const names = refusedIds.slice(0, 5).map(quoteName).join(", ");
  const message = `The model declined to answer ${refusedIds.length} of ${listedQuestions.length} questions: ${names}. Rephrase them or change the state.`;
  const rest = listedQuestions.flatMap(({ id }) =>
    refusedIds.includes(id) ? [] : [[id, answers[id]] as const],
  );
  throw new RefusalError(message, { questionIds: refusedIds, answers: Object.fromEntries(rest) });
}

/** The questions as rows for a loop over their answers; of each request they are made once. */
export const listQuestions = perQuestions((questions) =>
  Object.entries(questions).map(([id, question]) => {
    const { type } = question;
    const { hasConfidence } = questionKinds[type];
    return { id, type, hasConfidence, keys: questionKinds[type].keys(question) };
  }),
);

function checkIds(
  listedQuestions: ReturnType<typeof listQuestions>,
  answers: Readonly<Record<string, unknown>>,
): void {
  for (const { id } of listedQuestions)
    if (!Object.hasOwn(answers, id)) broken(id, "answer-ids", "is missing");
  const answeredIds = Object.keys(answers);
  if (answeredIds.length === listedQuestions.length) return;
  const ids = new Set(listedQuestions.map(({ id }) => id));
  const extra = answeredIds.find((id) => !ids.has(id)) as string;
  broken(extra, "answer-ids", "answers a question that was not asked");
}

function broken(questionId: string, rule: AnswerRule, flaw: string): never {
  return rejectAnswer(questionId, { rule, flaw, advice: "Asking again may not help." });
}
