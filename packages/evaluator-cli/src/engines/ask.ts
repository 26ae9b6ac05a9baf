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
  const file = await readQuestionsFile(options.questions, context);
  const questions = join(file ?? {}, toQuestions(typedWords));
  const { env, signal } = context;
  const engine = readEngine(options.engine, env);
  const state = await readState(options, context);
  await using own = toEvaluator(engine, env);
  const next = await openNext(options, questions, context);
  const evaluator = next === null ? own : own.with(next);
  const askedPromise = evaluator.evaluate({ state, questions }, { signal });
  const evaluation = await askedPromise.catch((error: unknown) => {
    throw toEngineError(error, engine);
  });
  const { steps } = evaluation;
  const shownEvaluation = {
    ...withoutReply(evaluation),
    ...(steps && { steps: steps.map(withoutReply) }),
  };
  const text =
    options.json === true
      ? JSON.stringify(shownEvaluation, null, 2)
      : describe(evaluation, questions, engine);
  context.stdout.write(`${text}\n`);
}

function withoutReply({ headers: _headers, raw: _raw, ...shownEvaluation }: Evaluation) {
  return shownEvaluation;
}

/** Returns a middleware that asks the engine after `--then` again for unsure answers; null without it. */
async function openNext(options: AskOptions<"ask">, questions: Questions, context: CliContext) {
  const { then: engine, unsure, thenUnsure } = options;
  if ((engine ?? unsure ?? thenUnsure) === undefined) return null;
  const { readNextEngine } = await import("evaluator-runs/source");
  const { env, cwd } = context;
  const openTransport = async ({
    engine,
    env: own,
  }: {
    engine?: string | undefined;
    env: typeof env;
  }) => readEngine(engine, own).transport;
  const next = await readNextEngine({ ...options, env }, questions, { cwd, openTransport });
  if (next === null) return null;
  const { escalate } = await import("evaluator-client/escalate");
  const { transport, bounds, nextBounds } = next;
  const again = createEvaluator({ transport, env, ...callLimits });
  return escalate(again, bounds, { nextBounds });
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
  const words = typedWords.values();
  for (const { kind, word } of words) {
    if (word.trim() === "" || word.startsWith("--")) throw mistyped(kind);
    const { names } = typedKinds[kind];
    const typedCriteria = toCriteria[kind](names === null ? [] : namesIn(words.next().value, kind));
    let id: string = kind;
    for (let number = 2; questions.has(id); number += 1) id = `${kind}${number}`;
    const question = {
      type: kind,
      instructions: word,
      ...(typedCriteria && { criteria: typedCriteria }),
    };
    questions.set(id, questionSchema.parse(question) as Question);
  }
  return Object.fromEntries(questions);
}

function mistyped(kind: KindName): UsageError {
  return new UsageError(`A question is typed as ${toExample(kind)}.`);
}

function toExample(kind: KindName): string {
  return `--${kind} ${typedKinds[kind].example}`;
}

function namesIn(typedWord: TypedWord | undefined, kind: KindName) {
  if (typedWord?.kind !== kind) throw mistyped(kind);
  const parts = typedWord.word.split(",").map((part) => part.trim());
  const names = parts.map((part) => {
    const [name = "", description = name] = part.split(/=(.*)/s, 2).map((side) => side.trim());
    return [name, description] as const;
  });
  const different = new Set(names.map(([name]) => name));
  if (!different.has("") && different.size === names.length) return names;
  throw new UsageError(
    printable`"${typedWord.word}" names an option twice or not at all; type ${toExample(kind)}.`,
  );
}

function join(read: Questions, typedQuestions: Questions): Questions {
  const twice = Object.keys(typedQuestions).find((id) => Object.hasOwn(read, id));
  if (twice !== undefined) {
    throw new UsageError(printable`The file of questions also has "${twice}"; rename it there.`);
  }
  const questions = { ...read, ...typedQuestions };
  if (Object.keys(questions).length > 0) return questions;
  throw new UsageError("No question was given; add --boolean, --choice, --score or --questions.");
}

async function readState(
  { state: name, questions = "FILE" }: AskOptions<"ask">,
  context: CliContext,
): Promise<string | object> {
  const raw = await (name === "-"
    ? readText(context.stdin)
    : readTextFile(resolve(context.cwd, name)));
  const text = raw.replace(/^\uFEFF/, "");
  if (text.trim() === "") throw new CliError(printable`The state (${name}) is empty.`);
  const json = parseJson(text);
  if (holdsRecords(name, text, json)) {
    const command = printable`evaluator-cli run ${name} --questions ${questions}`;
    context.stderr.write(
      printable`${name} holds many records; to ask about each one: ${command}\n`,
    );
  }
  if (typeof json === "object" && json !== null) {
    const [inexact] = parseExactJson(text).inexact;
    if (inexact === undefined) return json;
    throw new CliError(printable`${name}: ` + `${describeInexact(inexact)}.`);
  }
  if (json !== null || text.trim() === "null" || !/\.json$/i.test(name)) return text;
  throw new CliError(printable`${name} is not JSON; rename it if it is text.`);
}

/** Returns whether a text looks like a table, a list of objects or lines of objects. */
function holdsRecords(name: string, text: string, json: unknown): boolean {
  if (Array.isArray(json)) return json.length > 1 && json.every(isRecord);
  const lines = text.trim().split("\n", 3);
  if (/\.[ct]sv$/i.test(name)) return lines.length > 2;
  return lines.length > 1 && lines.slice(0, 2).every((line) => isRecord(parseJson(line)));
}

// Parts of a state are `{ json }` and images.
function isRecord(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return !("json" in value || "image" in value);
}

function describe(evaluation: Evaluation, questions: Questions, engine: Engine): string {
  const { answers, modelId, usage: used, costUsd, timing, warnings, route, steps } = evaluation;
  const askedEntries = Object.entries(questions);
  const width = Math.max(...askedEntries.map(([id]) => toPrintablePath(id).length));
  const lines = askedEntries.map(([id, question]) => {
    const text = printable`${id.padEnd(width)}  ${describeAnswer(question, answers[id] as Answer)}`;
    return text + describeRoute(route?.[id]);
  });
  const basis = emulatedBasis(evaluation.headers);
  const own = `${modelId ?? engine.transport.target?.modelId ?? "a model"} (${engine.name})`;
  const who =
    steps?.map((step) => `${step.modelId ?? "a model"} (${step.transport})`).join(", then ") ?? own;
  const cost = costUsd === null ? "price unknown" : `$${Number(costUsd.toPrecision(3))}`;
  const tokens = used === null ? "unknown" : used.inputTokens.toLocaleString("en");
  return [
    ...lines,
    printable`by ${who} in ${String(Math.round(timing.totalMs))} ms, ${tokens} tokens, ${cost}`,
    ...warnings.flatMap(describeWarning),
    ...(basis === null ? [] : [describeBasis(basis) ?? ""]),
  ].join("\n");
}

/** Returns who answered a question, if two engines may be asked. */
function describeRoute(route: AnswerRoute | undefined): string {
  if (route === undefined) return "";
  const { transport, modelId, failure, isSure } = route;
  const unsure = isSure === false ? ", unsure" : "";
  const problem =
    unsure + (failure === null ? "" : printable`; the next engine failed: ${failure}`);
  return printable`, by ${modelId ?? transport}` + problem;
}

function describeWarning(warning: unknown): string | readonly [] {
  const { message } = Object(warning) as { message?: unknown };
  return typeof message === "string" ? printable`warning: ${message}` : [];
}

function describeAnswer(question: Question, answer: Answer): string {
  const parts = valuesOf(question, answer).flatMap(describeValue);
  const [first = "", ...others] = parts;
  return others.length === 0 ? first : `${first} (${others.join(", ")})`;
}

function describeValue(field: AnswerValue): string | readonly [] {
  if (field.form === "probability") return `yes ${field.value.toFixed(2)}`;
  if (field.form === "number") return field.value.toFixed(2);
  // The likeliest option is the first of the distribution.
  if (field.form === "option") return [];
  const shares = Object.entries(field.value);
  if (!field.isOrdered) shares.sort(([, one], [, other]) => other - one);
  return shares.map(([name, share]) => `${name} ${share.toFixed(2)}`).join(", ");
}
