import { resolve } from "node:path";
import { type AnswerColumn, type AnswerTable, pickRecords } from "evaluator-calibration";
import {
  CliError,
  type CliContext,
  parseWords,
  printable,
  readWholeNumber,
  toFileError,
  UsageError,
  writeWholeFile,
  exitCodes,
} from "evaluator-kit";
import type { Command } from "./command.ts";
import { readAnswers } from "./files/read-answers.ts";
import { nameSource } from "./sentences.ts";
import { readAnswerNames, readSeed } from "./shared-arguments.ts";

const usage = `
Usage: evaluator pick --answers FILE... --budget N [options]

Draws records to label next: more where the answers are least sure, some everywhere. Each line of the
sheet has an empty truth to fill in, and the probability of being drawn, by whose inverse calibrate
weighs the label. The sheet does not show the model's answer.

  --question ID   which question to label [the only one]
  --model ID      only answers of this model
  --one-per COL   at most one record of each value of a field, such as thread or from (of a journal, of
                  the state): labels of one thread are not independent
  --out FILE      where the sheet goes [printed]
  --seed N        another seed, another draw
  --last          takes the last of several answers about one record
`;

const options = {
  answers: { type: "string", multiple: true },
  budget: { type: "string" },
  question: { type: "string" },
  model: { type: "string" },
  "one-per": { type: "string" },
  out: { type: "string" },
  seed: { type: "string" },
  last: { type: "boolean", default: false },
  uncertain: { type: "boolean", default: false },
} as const;

/** Draws records to label, with the probability of being drawn. */
export const pickCommand: Command = {
  examples: [
    "evaluator pick --answers inbox.triage.sqlite --question scam --budget 100 --out sheet.ndjson",
  ],
  usage: usage.trimStart(),
  run: pick,
};

async function pick(words: readonly string[], context: CliContext): Promise<number> {
  const { values, positionals } = parseWords(words, options);
  if (values.uncertain) {
    const why = "labels of uncertain records alone say nothing about the others";
    throw new UsageError(`--uncertain is refused: ${why}. Without it, those are drawn more often.`);
  }
  if (values.budget === undefined) throw new UsageError("--budget is missing: how many to label.");
  const budget = readWholeNumber("--budget", values.budget, { min: 1, max: 1_000_000 });
  const names = readAnswerNames(values.answers, positionals);
  const onePer = values["one-per"];
  const { table } = await readAnswers(names, { last: values.last, onePer }, context);
  const column = chooseColumn(table, values);
  const { clusters } = table;
  if (onePer !== undefined && clusters.size === 0) {
    throw new CliError(printable`No record has a field "${onePer}". Name another with --one-per.`);
  }
  const picked = pickRecords(column, { budget, seed: readSeed(values.seed), clusters });
  const sheet = picked
    .map(({ id, question, stratum, drawn }) =>
      JSON.stringify({ id, question, truth: null, stratum, drawn: Number(drawn.toPrecision(12)) }),
    )
    .join("\n");
  if (values.out === undefined) context.stdout.write(`${sheet}\n`);
  else await writeSheet(resolve(context.cwd, values.out), `${sheet}\n`);
  context.stderr.write(
    `Drew ${picked.length} of ${column.ids.length} records; fill in truth, add labeler, and give the sheet to calibrate.\n`,
  );
  return exitCodes.done;
}

function chooseColumn(
  table: AnswerTable,
  { question, model }: { question?: string | undefined; model?: string | undefined },
): AnswerColumn {
  const found = table.columns.filter(
    (column) =>
      (question === undefined || column.question === question) &&
      (model === undefined || column.source.modelId === model),
  );
  const [first, second] = found;
  if (first === undefined) {
    throw new CliError(
      `No such answers; the questions are ${table.questions.join(", ") || "none"}.`,
    );
  }
  if (second === undefined) return first;
  const questions = new Set(found.map((column) => column.question));
  if (questions.size > 1) {
    throw new UsageError(`Choose one with --question: ${[...questions].join(", ")}.`);
  }
  const models = found.map(({ source }) => nameSource(source)).join("; ");
  throw new UsageError(
    `The answers come from several sources (${models}); choose one with --model.`,
  );
}

async function writeSheet(path: string, text: string): Promise<void> {
  await writeWholeFile(path, text).catch((error: unknown) => {
    throw toFileError(error, `write ${path}`, "Choose another file with --out.");
  });
}
