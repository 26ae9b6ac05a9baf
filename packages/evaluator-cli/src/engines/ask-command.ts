import { resolve } from "node:path";
import { text as readText } from "node:stream/consumers";
import type { Answer, Evaluation, Questions } from "evaluator-client";
import {
  CliError,
  type CliContext,
  parseWords,
  printable,
  readPositionals,
  toPrintablePath,
  UsageError,
  readTextFile,
  exitCodes,
} from "evaluator-kit";
import type { Command } from "../command.ts";
import { readQuestionsFile, takeQuestions } from "./asked-questions.ts";
import {
  emulatedBasis,
  type Engine,
  engineUsage,
  evaluatorOf,
  readEngine,
  toEngineError,
} from "./engine.ts";
import { describeBasis } from "../report-sentence.ts";

const usage = `
Usage: evaluator ask --state FILE|- --boolean TEXT [--choice TEXT A,B,C] [--score TEXT LOW,HIGH] [options]

Asks typed questions about one state and prints the probability of every answer. A question may be
given again; an option may be name=description.
Ends with 0: answered. 1: no answer, or bad input.

  --state FILE|-     JSON or text; - reads what is piped in
  --questions FILE   a JSON object of id to { type, instructions, criteria }
  --engine ENGINE    who answers [what EVALUATOR_TRANSPORT names, else gateway]
  --json             prints the evaluation as JSON
${engineUsage}`;

const options = {
  state: { type: "string" },
  questions: { type: "string" },
  engine: { type: "string" },
  json: { type: "boolean", default: false },
} as const;

/** Asks questions about one state. */
export const askCommand: Command = {
  examples: [
    'evaluator ask --state mail.txt --boolean "Does it look like a scam?"',
    'evaluator ask --state mail.json --choice "What kind is it?" "receipt=a payment receipt,other" --json',
    "cat mail.txt | evaluator ask --state - --questions questions.json --engine logprobs=http://127.0.0.1:11434@qwen3:4b",
  ],
  usage: usage.trimStart(),
  run: ask,
};

async function ask(words: readonly string[], context: CliContext): Promise<number> {
  const typed = takeQuestions(words);
  const { values, positionals } = parseWords(typed.words, options);
  readPositionals(positionals, []);
  if (values.state === undefined)
    throw new UsageError("--state is missing: a file, or - for stdin.");
  const read =
    values.questions === undefined ? {} : await readQuestionsFile(values.questions, context);
  const questions = join(read, typed.questions);
  const { env, signal } = context;
  const engine = readEngine(values.engine, env);
  const state = await readState(values.state, context);
  await using evaluator = evaluatorOf(engine, env);
  const evaluation = await evaluator
    .evaluate({ state, questions }, { signal })
    .catch((error: unknown) => {
      throw toEngineError(error, engine);
    });
  const { headers: _, raw: _raw, ...kept } = evaluation;
  const text = values.json ? JSON.stringify(kept, null, 2) : describe(evaluation, engine);
  context.stdout.write(`${text}\n`);
  return exitCodes.done;
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
