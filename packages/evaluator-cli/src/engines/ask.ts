import { resolve } from "node:path";
import { text as readText } from "node:stream/consumers";
import type { Answer, Evaluation, Questions } from "evaluator-client";
import {
  CliError,
  type CliContext,
  printable,
  toPrintablePath,
  UsageError,
  readTextFile,
} from "evaluator-kit";
import type { AskOptions, TypedWord } from "../commands/ask-commands.ts";
import { readQuestionsFile, toQuestions } from "./asked-questions.ts";
import { emulatedBasis, type Engine, evaluatorOf, readEngine, toEngineError } from "./engine.ts";
import { describeBasis } from "../report/sentences.ts";

/** Asks one engine questions about one state, and prints the answers. */
export async function ask(
  typed: readonly TypedWord[],
  options: AskOptions,
  context: CliContext,
): Promise<void> {
  const file =
    options.questions === undefined ? {} : await readQuestionsFile(options.questions, context);
  const questions = join(file, toQuestions(typed));
  const { env, signal } = context;
  const engine = readEngine(options.engine, env);
  const state = await readState(options.state, context);
  await using evaluator = evaluatorOf(engine, env);
  const evaluation = await evaluator
    .evaluate({ state, questions }, { signal })
    .catch((error: unknown) => {
      throw toEngineError(error, engine);
    });
  const { headers: _, raw: _raw, ...kept } = evaluation;
  const text = options.json === true ? JSON.stringify(kept, null, 2) : describe(evaluation, engine);
  context.stdout.write(`${text}\n`);
}

function join(read: Questions, typed: Questions): Questions {
  const twice = Object.keys(typed).find((id) => Object.hasOwn(read, id));
  if (twice !== undefined) {
    throw new UsageError(
      printable`The file of questions has a "${twice}" of its own; rename it there.`,
    );
  }
  const questions = { ...read, ...typed };
  if (Object.keys(questions).length > 0) return questions;
  throw new UsageError("No question was given; add --boolean, --choice, --score or --questions.");
}

async function readState(name: string, context: CliContext): Promise<string | object> {
  const text = await (name === "-" ? readText(context.stdin) : readStateFile(name, context));
  if (text.trim() === "") throw new CliError(printable`The state (${name}) is empty.`);
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === "object" && json !== null ? json : text;
  } catch (error) {
    if (!/\.json$/i.test(name)) return text;
    throw new CliError(printable`${name} is no JSON; rename it where it is text.`, {
      cause: error,
    });
  }
}

async function readStateFile(name: string, { cwd }: CliContext): Promise<string> {
  const path = resolve(cwd, name);
  const text = await readTextFile(path, "Check the path after --state.");
  return text.replace(/^\uFEFF/, "");
}

function describe(evaluation: Evaluation, engine: Engine): string {
  const { answers, modelId, usage: used, costUsd, timing } = evaluation;
  const ids = Object.keys(answers);
  const width = Math.max(...ids.map((id) => toPrintablePath(id).length));
  const lines = Object.entries(answers).map(([id, answer]) => {
    return printable`${id.padEnd(width)}  ${describeAnswer(answer)}`;
  });
  const basis = emulatedBasis(evaluation.headers);
  const cost = costUsd === null ? "price unknown" : `$${Number(costUsd.toPrecision(3))}`;
  const tokens = used.inputTokens.toLocaleString("en");
  return [
    ...lines,
    printable`by ${modelId ?? engine.transport.target?.modelId ?? "a model"} (${engine.name}) in ${String(Math.round(timing.totalMs))} ms, ${tokens} tokens, ${cost}`,
    ...(basis === null ? [] : [describeBasis(basis) ?? ""]),
  ].join("\n");
}

function describeAnswer(answer: Answer): string {
  if (answer.type === "boolean") return `yes ${answer.probability.toFixed(2)}`;
  const ranked = Object.entries(answer.probabilities);
  if (answer.type === "choice") ranked.sort(([, one], [, other]) => other - one);
  const shares = ranked.map(([name, p]) => `${name} ${p.toFixed(2)}`).join(", ");
  return answer.type === "choice" ? shares : `${answer.score.toFixed(2)} (${shares})`;
}
