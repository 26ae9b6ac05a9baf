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
  read(requestBody) {
    if (isSystemone(requestBody)) return readSystemone(requestBody);
    return isGemini(requestBody) ? readGemini(requestBody) : readDecisions(requestBody);
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
  const requestBody = readObject(requestJson, []);
  const listedQuestions = readList(requestBody["questions"], ["questions"]).map((each, at) =>
    readQuestion(readObject(each, ["questions", at]), ["questions", at]),
  );
  if (listedQuestions.length === 0) throw noQuestion();
  const names = listedQuestions.map(({ name }) => name ?? "");
  const areIds = new Set(names).size === names.length && !names.includes("");
  const ids = listedQuestions.map(({ name }, at) => (areIds ? (name ?? "") : `question_${at + 1}`));
  const questions: Questions = Object.fromEntries(
    listedQuestions.map(({ question }, questionIndex) => [ids[questionIndex] ?? "", question]),
  );
  return {
    model: readName(requestBody["model"], ["model"]),
    request: { state: readInput(requestBody["input"]), questions },
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
  questionJson: Readonly<Record<string, unknown>>,
  questionPath: Path,
) => Omit<ListedQuestion, "name">;

const readers: Readonly<Record<string, QuestionReader>> = {
  predicate: (instructions) => ({
    question: boolean(instructions),
    write: (answer) => ({ ...answer, type: "predicate" }),
  }),
  choice(instructions, { choices }, questionPath) {
    const options = readList(choices, [...questionPath, "choices"]).map((choiceJson, at) => {
      const choicePath = [...questionPath, "choices", at];
      const { value, description = null } = readObject(choiceJson, choicePath);
      if (typeof value !== "string" && typeof value !== "boolean")
        throw wrongField([...choicePath, "value"], "is neither a text nor a boolean");
      return { value, description: readName(description, [...choicePath, "description"]) };
    });
    const optionLabels = options.map(({ value }) => value);
    if (new Set(optionLabels).size < optionLabels.length)
      throw wrongField([...questionPath, "choices"], "has a value twice");
    const optionPairs = options.map(({ value, description }) => {
      return [toOption(value, optionLabels), description] as const;
    });
    const write = (answer: Answer) => writeChoice(answer as ChoiceAnswer, optionLabels);
    return { question: choice(instructions, optionPairs), write };
  },
  score(instructions, { levels }, questionPath) {
    const levelLabels: string[] = [];
    const criteria = readList(levels, [...questionPath, "levels"]).map((levelJson, levelIndex) => {
      const levelPath = [...questionPath, "levels", levelIndex];
      const { label, description } = readObject(levelJson, levelPath);
      levelLabels.push(readText(label, [...levelPath, "label"]));
      const meaning = readName(description, [...levelPath, "description"]);
      return meaning ? `${levelLabels.at(-1)}: ${meaning}` : (levelLabels.at(-1) ?? "");
    });
    const write = (answer: Answer) => writeScore(answer as ScoreAnswer, levelLabels);
    return { question: score(instructions, criteria as [string, ...string[]]), write };
  },
};

/** Returns the option of a typed value: `true` and `"true"` are two. */
function toOption(optionValue: OptionValue, otherValues: readonly OptionValue[]): string {
  const isAmbiguous = typeof optionValue === "boolean" && otherValues.includes(String(optionValue));
  return isAmbiguous ? `${optionValue} (boolean)` : String(optionValue);
}

function readInstructions(givenValue: unknown, fieldPath: Path): string {
  const partTexts = toContent(givenValue, fieldPath).map((statePart, at) => {
    const partText = toPartText(statePart);
    if (partText !== null) return partText;
    throw wrongField([...fieldPath, at], "is an image; this router takes images in the input only");
  });
  return partTexts.join("\n");
}

/** Reads an input as a state. A single message of the user is its content; others keep their role. */
function readInput(inputJson: unknown): State {
  if (typeof inputJson === "string") return inputJson;
  const items = readList(inputJson, ["input"]).map((item, at) => readObject(item, ["input", at]));
  if (items.length === 0) throw wrongField(["input"], "is empty");
  const [firstItem = {}] = items;
  const isPlain = items.length === 1 && firstItem["role"] === "user";
  const stateParts = items.flatMap((item, at) =>
    isPlain ? toContent(item["content"], ["input", at, "content"]) : listParts(item, ["input", at]),
  );
  const [onlyPart] = stateParts;
  if (stateParts.length > 1 || onlyPart === undefined) return stateParts;
  if (typeof onlyPart === "string") return onlyPart;
  return "json" in onlyPart && isRecord(onlyPart.json) ? onlyPart.json : stateParts;
}

/** Returns an item with its texts as JSON, followed by its images. */
function listParts(inputItem: Readonly<Record<string, unknown>>, itemPath: Path): StatePart[] {
  const contentField = "content" in inputItem ? "content" : "output";
  if (!(contentField in inputItem)) return [{ json: inputItem as never }];
  const contentParts = toContent(inputItem[contentField], [...itemPath, contentField]);
  const imageParts = contentParts.filter((contentPart) => toPartText(contentPart) === null);
  const texts = contentParts.map(toPartText).filter((contentText) => contentText !== null);
  return [{ json: { ...inputItem, [contentField]: texts.join("\n") } as never }, ...imageParts];
}

/** Returns a part as text; null for an image. */
function toPartText(statePart: StatePart): string | null {
  if (typeof statePart === "string") return statePart;
  return "json" in statePart ? JSON.stringify(statePart.json) : null;
}

function toContent(itemContent: unknown, contentPath: Path): StatePart[] {
  if (typeof itemContent === "string") return [itemContent];
  return readList(itemContent, contentPath).map((each, at): StatePart => {
    const { type, text, refusal, data, image_url: image } = readObject(each, [...contentPath, at]);
    if (type === "input_image" && typeof image === "string") return { image };
    if (type === "input_json" && data !== undefined) return { json: data as never };
    const partText = text ?? refusal;
    if (typeof partText === "string") return partText;
    throw wrongField([...contentPath, at], "is neither a text nor JSON nor an image");
  });
}

interface Listed {
  readonly listedQuestions: readonly ListedQuestion[];
  readonly ids: readonly string[];
}

function toBody(answeredEvaluation: Answered, { listedQuestions, ids }: Listed) {
  const { model, usage, costUsd, printed: printedAnswers, route, raw } = answeredEvaluation;
  const otherParts = otherFields(raw);
  const { inputTokens = 0, cachedInputTokens = 0, outputTokens = 0 } = usage ?? {};
  const toAnswers = (givenAnswers: Answered["answers"]) =>
    listedQuestions.map(({ name, write }, questionIndex) => {
      const questionId = ids[questionIndex] ?? "";
      const answer = Object.hasOwn(givenAnswers, questionId) ? givenAnswers[questionId] : undefined;
      if (answer === undefined) return { type: "refusal", name };
      const confidence =
        givenAnswers === printedAnswers ? undefined : confidenceIn(questionId, answeredEvaluation);
      return { ...write(answer), ...(confidence !== undefined && { confidence }), name };
    });
  return {
    ...otherParts.body,
    model,
    answers: toAnswers(answeredEvaluation.answers),
    usage: {
      ...otherParts.usage,
      input_tokens: inputTokens,
      input_tokens_details: { cached_tokens: cachedInputTokens, cache_write_tokens: 0 },
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: inputTokens + outputTokens,
      ...(costUsd !== null && { cost: costUsd }),
    },
    ...(printedAnswers !== null && { x_printed: toAnswers(printedAnswers) }),
    ...(route !== null && { x_route: ids.map((questionId) => route[questionId] ?? null) }),
  };
}

function writeChoice(
  { choice: pickedOption, probabilities, ...others }: ChoiceAnswer,
  optionLabels: readonly OptionValue[],
) {
  return {
    ...others,
    choice: optionLabels.find((value) => toOption(value, optionLabels) === pickedOption),
    probabilities: optionLabels.map((value) => {
      return { value, probability: probabilities[toOption(value, optionLabels)] };
    }),
  };
}

function writeScore({ probabilities, ...others }: ScoreAnswer, levelLabels: readonly string[]) {
  return {
    ...others,
    probabilities: levelLabels.map((label, value) => {
      return { value, label, probability: probabilities[value] };
    }),
  };
}
