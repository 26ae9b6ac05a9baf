import { isRecord } from "evaluator-kit";
import {
  type Answer,
  boolean,
  choice,
  type ChoiceAnswer,
  type Question,
  type Questions,
  score,
  type ScoreAnswer,
  type State,
  type StatePart,
} from "evaluator-client";
import {
  type Answered,
  type AskedEvaluation,
  confidenceIn,
  type EvaluationForm,
  type Path,
  readList,
  readName,
  readObject,
  readText,
  noQuestion,
  wrongField,
} from "./evaluation-form.ts";
import { otherFields } from "./other-fields.ts";
import { isGemini, readGemini } from "./gemini-form.ts";
import { isSystemone, readSystemone } from "./systemone-form.ts";

/**
 * OpenAI's form. A body with a map of questions has Google's form, or the vendor's if it has a state (Perplexity's
 * clients).
 */
export const decisionsForm: EvaluationForm = {
  endpoint: "decisions",
  path: "/v1/decisions",
  fieldStatus: null,
  error: null,
  read(body) {
    if (isSystemone(body)) return readSystemone(body);
    return isGemini(body) ? readGemini(body) : readDecisions(body);
  },
};

/** A value of an option, which is typed in this form. */
type OptionValue = string | boolean;

/** A question of the list, and the writer of its answer. */
interface ListedQuestion {
  readonly name: string | null;
  readonly question: Question;
  readonly write: (answer: Answer) => object;
}

function readDecisions(requestJson: unknown): AskedEvaluation {
  const body = readObject(requestJson, []);
  const listedQuestions = readList(body["questions"], ["questions"]).map((each, at) =>
    readQuestion(readObject(each, ["questions", at]), ["questions", at]),
  );
  if (listedQuestions.length === 0) throw noQuestion();
  const names = listedQuestions.map(({ name }) => name ?? "");
  const areIds = new Set(names).size === names.length && !names.includes("");
  const ids = listedQuestions.map(({ name }, at) => (areIds ? (name ?? "") : `question_${at + 1}`));
  const questions: Questions = Object.fromEntries(
    listedQuestions.map(({ question }, at) => [ids[at] ?? "", question]),
  );
  return {
    model: readName(body["model"], ["model"]),
    request: { state: readInput(body["input"]), questions },
    takesRefusals: true,
    write: (answeredEvaluation) => toBody(answeredEvaluation, { listedQuestions, ids }),
  };
}

function readQuestion(question: Readonly<Record<string, unknown>>, path: Path): ListedQuestion {
  const { type } = question;
  const read = typeof type === "string" && Object.hasOwn(readers, type) ? readers[type] : undefined;
  if (read === undefined)
    throw wrongField([...path, "type"], `is none of ${Object.keys(readers).join(", ")}`);
  const instructions = readInstructions(question["instructions"], [...path, "instructions"]);
  const name = readName(question["name"], [...path, "name"]);
  return { name, ...read(instructions, question, path) };
}

type QuestionReader = (
  instructions: string,
  question: Readonly<Record<string, unknown>>,
  path: Path,
) => Omit<ListedQuestion, "name">;

const readers: Readonly<Record<string, QuestionReader>> = {
  predicate: (instructions) => ({
    question: boolean(instructions),
    write: (answer) => ({ ...answer, type: "predicate" }),
  }),
  choice(instructions, { choices }, path) {
    const options = readList(choices, [...path, "choices"]).map((each, at) => {
      const place = [...path, "choices", at];
      const { value, description = null } = readObject(each, place);
      if (typeof value !== "string" && typeof value !== "boolean")
        throw wrongField([...place, "value"], "is neither a text nor a boolean");
      return { value, description: readName(description, [...place, "description"]) };
    });
    const labels = options.map(({ value }) => value);
    if (new Set(labels).size < labels.length)
      throw wrongField([...path, "choices"], "has a value twice");
    const pairs = options.map(({ value, description }) => {
      return [toOption(value, labels), description] as const;
    });
    const write = (answer: Answer) => writeChoice(answer as ChoiceAnswer, labels);
    return { question: choice(instructions, pairs), write };
  },
  score(instructions, { levels }, path) {
    const labels: string[] = [];
    const criteria = readList(levels, [...path, "levels"]).map((each, at) => {
      const place = [...path, "levels", at];
      const { label, description } = readObject(each, place);
      labels.push(readText(label, [...place, "label"]));
      const meaning = readName(description, [...place, "description"]);
      return meaning ? `${labels.at(-1)}: ${meaning}` : (labels.at(-1) ?? "");
    });
    const write = (answer: Answer) => writeScore(answer as ScoreAnswer, labels);
    return { question: score(instructions, criteria as [string, ...string[]]), write };
  },
};

/** Returns the option of a typed value: `true` and `"true"` are two. */
function toOption(value: OptionValue, labels: readonly OptionValue[]): string {
  const isAmbiguous = typeof value === "boolean" && labels.includes(String(value));
  return isAmbiguous ? `${value} (boolean)` : String(value);
}

function readInstructions(givenValue: unknown, path: Path): string {
  const texts = toContent(givenValue, path).map((part, at) => {
    const text = toPartText(part);
    if (text !== null) return text;
    throw wrongField([...path, at], "is an image; this router takes images in the input only");
  });
  return texts.join("\n");
}

/** Reads an input as a state. A single message of the user is its content; others keep their role. */
function readInput(input: unknown): State {
  if (typeof input === "string") return input;
  const items = readList(input, ["input"]).map((item, at) => readObject(item, ["input", at]));
  if (items.length === 0) throw wrongField(["input"], "is empty");
  const [first = {}] = items;
  const isPlain = items.length === 1 && first["role"] === "user";
  const parts = items.flatMap((item, at) =>
    isPlain ? toContent(item["content"], ["input", at, "content"]) : listParts(item, ["input", at]),
  );
  const [only] = parts;
  if (parts.length > 1 || only === undefined) return parts;
  if (typeof only === "string") return only;
  return "json" in only && isRecord(only.json) ? only.json : parts;
}

/** Returns an item with its texts as JSON, followed by its images. */
function listParts(item: Readonly<Record<string, unknown>>, path: Path): StatePart[] {
  const field = "content" in item ? "content" : "output";
  if (!(field in item)) return [{ json: item as never }];
  const parts = toContent(item[field], [...path, field]);
  const images = parts.filter((part) => toPartText(part) === null);
  const texts = parts.map(toPartText).filter((text) => text !== null);
  return [{ json: { ...item, [field]: texts.join("\n") } as never }, ...images];
}

/** Returns a part as text; null for an image. */
function toPartText(part: StatePart): string | null {
  if (typeof part === "string") return part;
  return "json" in part ? JSON.stringify(part.json) : null;
}

function toContent(content: unknown, path: Path): StatePart[] {
  if (typeof content === "string") return [content];
  return readList(content, path).map((each, at): StatePart => {
    const { type, text, refusal, data, image_url: image } = readObject(each, [...path, at]);
    if (type === "input_image" && typeof image === "string") return { image };
    if (type === "input_json" && data !== undefined) return { json: data as never };
    const words = text ?? refusal;
    if (typeof words === "string") return words;
    throw wrongField([...path, at], "is neither a text nor JSON nor an image");
  });
}

interface Listed {
  readonly listedQuestions: readonly ListedQuestion[];
  readonly ids: readonly string[];
}

function toBody(answeredEvaluation: Answered, { listedQuestions, ids }: Listed) {
  const { model, usage, costUsd, printed: printedAnswers, route, raw } = answeredEvaluation;
  const others = otherFields(raw);
  const { inputTokens = 0, cachedInputTokens = 0, outputTokens = 0 } = usage ?? {};
  const toAnswers = (answers: Answered["answers"]) =>
    listedQuestions.map(({ name, write }, at) => {
      const id = ids[at] ?? "";
      const answer = Object.hasOwn(answers, id) ? answers[id] : undefined;
      if (answer === undefined) return { type: "refusal", name };
      const confidence =
        answers === printedAnswers ? undefined : confidenceIn(id, answeredEvaluation);
      return { ...write(answer), ...(confidence !== undefined && { confidence }), name };
    });
  return {
    ...others.body,
    model,
    answers: toAnswers(answeredEvaluation.answers),
    usage: {
      ...others.usage,
      input_tokens: inputTokens,
      input_tokens_details: { cached_tokens: cachedInputTokens, cache_write_tokens: 0 },
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: inputTokens + outputTokens,
      ...(costUsd !== null && { cost: costUsd }),
    },
    ...(printedAnswers !== null && { x_printed: toAnswers(printedAnswers) }),
    ...(route !== null && { x_route: ids.map((id) => route[id] ?? null) }),
  };
}

function writeChoice(
  { choice: pickedOption, probabilities, ...others }: ChoiceAnswer,
  labels: readonly OptionValue[],
) {
  return {
    ...others,
    choice: labels.find((value) => toOption(value, labels) === pickedOption),
    probabilities: labels.map((value) => {
      return { value, probability: probabilities[toOption(value, labels)] };
    }),
  };
}

function writeScore({ probabilities, ...others }: ScoreAnswer, labels: readonly string[]) {
  return {
    ...others,
    probabilities: labels.map((label, value) => {
      return { value, label, probability: probabilities[value] };
    }),
  };
}
