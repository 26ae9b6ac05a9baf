import { InvalidRequestError } from "../errors.ts";
import type { BooleanQuestion, Question, Questions } from "../questions/question.ts";
import { quoteName } from "../questions/quote-name.ts";
import type { DecisionCall, DecisionQuestion } from "./decision-model.ts";

/**
 * The questions of an evaluation. Its instructions and descriptions are text: missing, null or
 * JSON ones are refused and not written out, because a question that reads differently is another
 * question. A null description of yes or no is left out, which means the same.
 *
 * @throws InvalidRequestError naming the question.
 */
export function fromDecisionQuestions(questions: DecisionCall["questions"]): Questions {
  const entries = Object.entries(questions).map(([id, question]) => [
    id,
    fromQuestion(id, question),
  ]);
  return Object.fromEntries(entries) as Questions;
}

function fromQuestion(id: string, question: DecisionQuestion): Question {
  const textOf = (content: unknown, place: string) => textAt(content, { id, place });
  const { type } = question;
  if (type === "box") return refuse(id, "asks for a box; ask choice, score or boolean");
  const instructions = textOf(question.instructions, "instructions");
  if (type === "choice") return { type, instructions, criteria: fromOptions(question, textOf) };
  if (type === "boolean") return { type, instructions, ...fromBooleanCriteria(question, textOf) };
  const criteria = question.criteria.map((level, index) => textOf(level, `level ${index}`));
  return { type, instructions, criteria };
}

type TextOf = (content: unknown, place: string) => string;
type QuestionOf<TType> = Extract<DecisionQuestion, { type: TType }>;

function fromOptions({ criteria }: QuestionOf<"choice">, textOf: TextOf): Record<string, string> {
  const options = Object.entries(criteria).map(([name, description]) => {
    return [name, textOf(description, `option ${quoteName(name)}`)] as const;
  });
  return Object.fromEntries(options);
}

function fromBooleanCriteria(
  { criteria }: QuestionOf<"boolean">,
  textOf: TextOf,
): Pick<BooleanQuestion, "criteria"> {
  const described = Object.entries(criteria ?? {})
    .filter(([, description]) => description !== null && description !== undefined)
    .map(([answer, description]) => [answer, textOf(description, `criterion ${answer}`)]);
  return described.length === 0 ? {} : { criteria: Object.fromEntries(described) };
}

function textAt(content: unknown, { id, place }: { id: string; place: string }): string {
  if (typeof content === "string") return content;
  return refuse(id, `has no text as its ${place}; an evaluator takes strings only`);
}

function refuse(questionId: string, what: string): never {
  throw new InvalidRequestError(`The question ${quoteName(questionId)} ${what}.`, { questionId });
}
