import { resolve } from "node:path";
import { text as readText } from "node:stream/consumers";
import {
  type Answer,
  type AnswerRoute,
  type AnswerValue,
  choice,
  createEvaluator,
  type Evaluation,
  type KindName,
  type Question,
  type Questions,
  questionSchema,
  valuesOf,
} from "evaluator-client";
import {
  type CliContext,
  CliError,
  describeInexact,
  parseExactJson,
  parseJson,
  printable,
  toPrintablePath,
  UsageError,
  readTextFile,
} from "evaluator-kit";
import type { AskOptions } from "../commands/ask-commands.ts";
import { typedKinds, type TypedWord } from "../commands/shared-options.ts";
import { readQuestionsFile } from "../read-files.ts";
import {
  callLimits,
  emulatedBasis,
  type Engine,
  toEvaluator,
  readEngine,
  toEngineError,
} from "./engine.ts";
import { describeBasis } from "../report/sentences.ts";

/** Asks one engine questions about one state, and prints the answers. */
export async function ask(
  typedWords: readonly TypedWord[],
  options: AskOptions<"ask">,
  context: CliContext,
): Promise<void> {
  const fileQuestions = await readQuestionsFile(options.questions, context);
  const questions = mergeQuestions(fileQuestions ?? {}, toQuestions(typedWords));
  const { env, signal } = context;
  const engine = readEngine(options.engine, env);
  const state = await readState(options, context);
  await using firstEvaluator = toEvaluator(engine, env);
  const escalation = await openEscalation(options, questions, context);
  const evaluator = escalation === null ? firstEvaluator : firstEvaluator.with(escalation);
  const askedPromise = evaluator.evaluate({ state, questions }, { signal });
  const evaluation = await askedPromise.catch((error: unknown) => {
    throw toEngineError(error, engine);
  });
  const { steps } = evaluation;
  const shownEvaluation = {
    ...withoutReply(evaluation),
    ...(steps && { steps: steps.map(withoutReply) }),
  };
  const outputText =
    options.json === true
      ? JSON.stringify(shownEvaluation, null, 2)
      : describeEvaluation(evaluation, questions, engine);
  context.stdout.write(`${outputText}\n`);
}

function withoutReply({ headers: _headers, raw: _raw, ...shownEvaluation }: Evaluation) {
  return shownEvaluation;
}

/** Returns a middleware that asks the engine after `--then` again for unsure answers; null without it. */
async function openEscalation(
  options: AskOptions<"ask">,
  questions: Questions,
  context: CliContext,
) {
  const { then: engine, unsure, thenUnsure } = options;
  if ((engine ?? unsure ?? thenUnsure) === undefined) return null;
  const { readNextEngine } = await import("evaluator-runs/source");
  const { env, cwd } = context;
  const openTransport = async ({
    engine,
    env: nextEnvironment,
  }: {
    engine?: string | undefined;
    env: typeof env;
  }) => readEngine(engine, nextEnvironment).transport;
  const nextSetting = await readNextEngine({ ...options, env }, questions, { cwd, openTransport });
  if (nextSetting === null) return null;
  const { escalate } = await import("evaluator-client/escalate");
  const { transport, bounds, nextBounds } = nextSetting;
  const nextEvaluator = createEvaluator({ transport, env, ...callLimits });
  return escalate(nextEvaluator, bounds, { nextBounds });
}

/** The typed options or levels of a question, each with its description. */
type Names = readonly (readonly [name: string, description: string])[];

const toCriteria: Readonly<Record<KindName, (names: Names) => object | undefined>> = {
  // In the order of typing, also for names that look like integers.
  choice: (names) => choice("", names).criteria,
  score: (names) => names.map(([, description]) => description),
  boolean: () => undefined,
  box: () => undefined,
};

/** Returns the typed questions; each is called after its kind. */
function toQuestions(typedWords: readonly TypedWord[]): Questions {
  const questions = new Map<string, Question>();
  const remainingWords = typedWords.values();
  for (const { kind, word } of remainingWords) {
    if (word.trim() === "" || word.startsWith("--")) throw toMistypedError(kind);
    const { names } = typedKinds[kind];
    const typedCriteria = toCriteria[kind](
      names === null ? [] : parseNames(remainingWords.next().value, kind),
    );
    let questionId: string = kind;
    for (let suffix = 2; questions.has(questionId); suffix += 1) questionId = `${kind}${suffix}`;
    const question = {
      type: kind,
      instructions: word,
      ...(typedCriteria && { criteria: typedCriteria }),
    };
    questions.set(questionId, questionSchema.parse(question) as Question);
  }
  return Object.fromEntries(questions);
}

function toMistypedError(kind: KindName): UsageError {
  return new UsageError(`A question is typed as ${toExample(kind)}.`);
}

function toExample(kind: KindName): string {
  return `--${kind} ${typedKinds[kind].example}`;
}

function parseNames(typedWord: TypedWord | undefined, kind: KindName) {
  if (typedWord?.kind !== kind) throw toMistypedError(kind);
  const nameTexts = typedWord.word.split(",").map((nameText) => nameText.trim());
  const names = nameTexts.map((nameText) => {
    const [name = "", description = name] = nameText
      .split(/=(.*)/s, 2)
      .map((sideText) => sideText.trim());
    return [name, description] as const;
  });
  const distinctNames = new Set(names.map(([name]) => name));
  if (!distinctNames.has("") && distinctNames.size === names.length) return names;
  throw new UsageError(
    printable`"${typedWord.word}" names an option twice or not at all; type ${toExample(kind)}.`,
  );
}

function mergeQuestions(fileQuestions: Questions, typedQuestions: Questions): Questions {
  const repeatedId = Object.keys(typedQuestions).find((questionId) =>
    Object.hasOwn(fileQuestions, questionId),
  );
  if (repeatedId !== undefined) {
    throw new UsageError(
      printable`The file of questions has "${repeatedId}" too; rename it there.`,
    );
  }
  const questions = { ...fileQuestions, ...typedQuestions };
  if (Object.keys(questions).length > 0) return questions;
  throw new UsageError("Give --boolean, --choice, --score or --questions.");
}

async function readState(
  { state: stateFileName, questions = "FILE" }: AskOptions<"ask">,
  context: CliContext,
): Promise<string | object> {
  const rawText = await (stateFileName === "-"
    ? readText(context.stdin)
    : readTextFile(resolve(context.cwd, stateFileName)));
  const stateText = rawText.replace(/^\uFEFF/, "");
  if (stateText.trim() === "")
    throw new CliError(printable`The state (${stateFileName}) is empty.`);
  const stateJson = parseJson(stateText);
  if (holdsRecords(stateFileName, stateText, stateJson)) {
    const command = printable`evaluator-cli run ${stateFileName} --questions ${questions}`;
    context.stderr.write(
      printable`${stateFileName} holds many records; to ask about each one: ${command}\n`,
    );
  }
  if (typeof stateJson === "object" && stateJson !== null) {
    const [inexact] = parseExactJson(stateText).inexact;
    if (inexact === undefined) return stateJson;
    throw new CliError(printable`${stateFileName}: ` + `${describeInexact(inexact)}.`);
  }
  if (stateJson !== null || stateText.trim() === "null" || !/\.json$/i.test(stateFileName))
    return stateText;
  throw new CliError(printable`${stateFileName} is not JSON; rename it if it is text.`);
}

/** Returns whether a text looks like a table, a list of objects or lines of objects. */
function holdsRecords(fileName: string, stateText: string, stateJson: unknown): boolean {
  if (Array.isArray(stateJson)) return stateJson.length > 1 && stateJson.every(isRecord);
  const firstLines = stateText.trim().split("\n", 3);
  if (/\.[ct]sv$/i.test(fileName)) return firstLines.length > 2;
  return firstLines.length > 1 && firstLines.slice(0, 2).every((line) => isRecord(parseJson(line)));
}

// Parts of a state are `{ json }` and images.
function isRecord(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return !("json" in value || "image" in value);
}

function describeEvaluation(evaluation: Evaluation, questions: Questions, engine: Engine): string {
  const { answers, modelId, usage: used, costUsd, timing, warnings, route, steps } = evaluation;
  const askedEntries = Object.entries(questions);
  const idWidth = Math.max(
    ...askedEntries.map(([questionId]) => toPrintablePath(questionId).length),
  );
  const answerLines = askedEntries.map(([questionId, question]) => {
    const answerText = printable`${questionId.padEnd(idWidth)}  ${describeAnswer(question, answers[questionId] as Answer)}`;
    return answerText + describeRoute(route?.[questionId]);
  });
  const basis = emulatedBasis(evaluation.headers);
  const ownAnswerer = `${modelId ?? engine.transport.target?.modelId ?? "a model"} (${engine.name})`;
  const answererNames =
    steps?.map((step) => `${step.modelId ?? "a model"} (${step.transport})`).join(", then ") ??
    ownAnswerer;
  const costText = costUsd === null ? "price unknown" : `$${Number(costUsd.toPrecision(3))}`;
  const tokensText = used === null ? "unknown" : used.inputTokens.toLocaleString("en");
  return [
    ...answerLines,
    printable`by ${answererNames} in ${String(Math.round(timing.totalMs))} ms, ${tokensText} tokens, ${costText}`,
    ...warnings.flatMap(describeWarning),
    ...(basis === null ? [] : [describeBasis(basis) ?? ""]),
  ].join("\n");
}

/** Returns who answered a question, if two engines may be asked. */
function describeRoute(route: AnswerRoute | undefined): string {
  if (route === undefined) return "";
  const { transport, modelId, failure, isSure } = route;
  const unsureNote = isSure === false ? ", unsure" : "";
  const routeNote =
    unsureNote + (failure === null ? "" : printable`; the next engine failed: ${failure}`);
  return printable`, by ${modelId ?? transport}` + routeNote;
}

function describeWarning(warning: unknown): string | readonly [] {
  const { message } = Object(warning) as { message?: unknown };
  return typeof message === "string" ? printable`warning: ${message}` : [];
}

function describeAnswer(question: Question, answer: Answer): string {
  const valueTexts = valuesOf(question, answer).flatMap(describeValue);
  const [firstText = "", ...otherTexts] = valueTexts;
  return otherTexts.length === 0 ? firstText : `${firstText} (${otherTexts.join(", ")})`;
}

function describeValue(answerValue: AnswerValue): string | readonly [] {
  if (answerValue.form === "probability") return `yes ${answerValue.value.toFixed(2)}`;
  if (answerValue.form === "number") return answerValue.value.toFixed(2);
  // The likeliest option is the first of the distribution.
  if (answerValue.form === "option") return [];
  const shares = Object.entries(answerValue.value);
  if (!answerValue.isOrdered) shares.sort(([, left], [, right]) => right - left);
  return shares.map(([name, share]) => `${name} ${share.toFixed(2)}`).join(", ");
}
