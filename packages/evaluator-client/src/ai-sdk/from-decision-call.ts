import type { Experimental_DecisionModel } from "ai";
import { InvalidRequestError } from "../errors.ts";
import type { EvaluationRequest } from "../questions/request.ts";
import { isRecord, quoteName } from "../questions/json.ts";
import { image, type ImagePart, type StatePart } from "../questions/state.ts";
import type { Question, Questions } from "../questions/kinds.ts";
import { kindList } from "../questions/question-problem.ts";

/** A decision model of the `ai` package; experimental there, so its version is pinned. */
export type DecisionModel = Extract<Experimental_DecisionModel, { doDecide: unknown }>;
type DecisionCall = Parameters<DecisionModel["doDecide"]>[0];
type DecisionQuestion = DecisionCall["questions"][string];
type DecisionStatePart = DecisionCall["state"][number];
type DecisionWarning = Awaited<ReturnType<DecisionModel["doDecide"]>>["warnings"][number];

/**
 * Returns the request of a call of the `ai` package, and warnings about what an evaluator ignores.
 *
 * @throws InvalidRequestError if the evaluator cannot send the state or a question.
 */
export function fromDecisionCall(call: DecisionCall) {
  const state = fromDecisionState(call.state);
  const questions = fromDecisionQuestions(call.questions);
  return { request: { state, questions }, warnings: callWarnings(call, state) };
}

/**
 * Returns the state of an evaluation: text for one text part, an object for one JSON object, and a
 * list of parts if one is an image. Other parts become one text with a blank line between them,
 * because the model reads the keys of an object (contract section 2.1), so this adds none.
 */
function fromDecisionState(parts: DecisionCall["state"]): EvaluationRequest["state"] {
  const [first] = parts;
  if (first === undefined)
    throw new InvalidRequestError("The state has no parts; send at least one.");
  if (parts.length === 1 && first.type === "json" && isRecord(first.value)) {
    return first.value;
  }
  if (parts.some(({ type }) => type === "file")) return parts.map(toPart);
  return parts.map(toText).join("\n\n");
}

function toPart(part: DecisionStatePart): StatePart {
  if (part.type === "text") return part.text;
  return part.type === "json" ? { json: part.value } : fromFile(part);
}

function fromFile({ mediaType, data }: Extract<DecisionStatePart, { type: "file" }>): ImagePart {
  if (mediaType.split("/")[0] === "image") {
    if (data.type === "url") return image(data.url);
    if (data.type === "data" && typeof data.data !== "string") return image(data.data);
    if (data.type === "data") return image(bytesOf(data.data as string));
  }
  const message = "The state has a file part that is no image; send its content as text or JSON.";
  throw new InvalidRequestError(message);
}

function bytesOf(base64: string): Uint8Array {
  const binary = fromBase64(base64);
  const bytes = new Uint8Array(binary.length);
  // Not Uint8Array.from, which takes a second for an image of 8 MiB.
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return bytes;
}

function fromBase64(base64: string): string {
  try {
    return atob(base64);
  } catch {
    throw new InvalidRequestError("The state has a file part whose data is not base64.");
  }
}

function toText(part: DecisionStatePart): string {
  return part.type === "text" ? part.text : toJson((part as { value: unknown }).value);
}

function toJson(value: unknown): string {
  try {
    const text: unknown = JSON.stringify(value);
    if (typeof text === "string") return text;
  } catch {
    // A cycle or a BigInt; the thrown message may quote the state.
  }
  throw new InvalidRequestError("The state has a JSON part that is not a JSON value.");
}

/**
 * Returns the questions of an evaluation. Instructions and descriptions that are not text are rejected
 * and not rewritten, because other words are another question. A null description of yes or no is
 * left out, which means the same.
 */
function fromDecisionQuestions(questions: DecisionCall["questions"]): Questions {
  const entries = Object.entries(questions).map(([id, question]) => [
    id,
    fromQuestion(id, question),
  ]);
  return Object.fromEntries(entries) as Questions;
}

type TextOf = (content: unknown, where: string) => string;
type QuestionOf<TType> = Extract<DecisionQuestion, { type: TType }>;

/** Reads the criteria of one type of question; the method gets only questions of that type. */
interface CriteriaReader {
  read(question: DecisionQuestion, textOf: TextOf): object;
}

/** The package's types of questions; null for those that no evaluator answers. */
const criteriaReaders: Readonly<Record<DecisionQuestion["type"], CriteriaReader | null>> = {
  choice: { read: fromOptions },
  score: {
    read: ({ criteria }: QuestionOf<"score">, textOf) => ({
      criteria: criteria.map((level, index) => textOf(level, `level ${index}`)),
    }),
  },
  boolean: { read: fromMeanings },
  box: null,
};

/** The types of questions that an evaluator answers. */
export const supportedQuestionTypes = Object.entries(criteriaReaders).flatMap(([type, reader]) =>
  reader === null ? [] : [type as DecisionQuestion["type"]],
);

function fromQuestion(id: string, question: DecisionQuestion): Question {
  const textOf = (content: unknown, where: string) => textAt(content, { id, where });
  const { type } = question;
  const reader = criteriaReaders[type];
  if (reader === null) return reject(id, `asks for a ${type}; ask ${kindList}`);
  const instructions = textOf(question.instructions, "instructions");
  return { type, instructions, ...reader.read(question, textOf) } as Question;
}

function fromOptions({ criteria }: QuestionOf<"choice">, textOf: TextOf): object {
  const options = Object.entries(criteria).map(([name, description]) => {
    return [name, textOf(description, `option ${quoteName(name)}`)] as const;
  });
  return { criteria: Object.fromEntries(options) };
}

function fromMeanings({ criteria }: QuestionOf<"boolean">, textOf: TextOf): object {
  const described = Object.entries(criteria ?? {})
    .filter(([, description]) => description !== null && description !== undefined)
    .map(([answer, description]) => [answer, textOf(description, `criterion ${answer}`)]);
  return described.length === 0 ? {} : { criteria: Object.fromEntries(described) };
}

function textAt(content: unknown, { id, where }: { id: string; where: string }): string {
  if (typeof content === "string") return content;
  return reject(id, `has no text as its ${where}; an evaluator takes strings only`);
}

function reject(questionId: string, what: string): never {
  throw new InvalidRequestError(`The question ${quoteName(questionId)} ${what}.`, { questionId });
}

function callWarnings(
  call: DecisionCall,
  state: EvaluationRequest["state"],
): readonly DecisionWarning[] {
  const { maxOutputTokens, reasoning, headers = {}, providerOptions = {} } = call;
  // The package adds its own name to every call.
  const addsHeaders = Object.keys(headers).some((name) => name.toLowerCase() !== "user-agent");
  const isText = call.state.length === 1 && call.state[0]?.type === "text";
  return [
    ...unsupported("maxOutputTokens", maxOutputTokens !== undefined),
    ...unsupported("reasoning", reasoning !== undefined && reasoning !== "provider-default"),
    ...unsupported("headers", addsHeaders),
    ...unsupported("providerOptions", Object.keys(providerOptions).length > 0),
    ...(isText || typeof state !== "string" ? [] : [writtenAsText]),
  ];
}

const writtenAsText: DecisionWarning = {
  type: "compatibility",
  feature: "state",
  details:
    "The evaluation model reads one text or one JSON object; the parts were sent as one text.",
};

function unsupported(feature: string, isGiven: boolean): DecisionWarning[] {
  const details = "Set it when you create the evaluator, if its transport has this option.";
  return isGiven ? [{ type: "unsupported", feature, details }] : [];
}
