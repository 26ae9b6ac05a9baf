import { resolve } from "node:path";
import {
  AnswerTable,
  type CalibrationArtifact,
  checkThreshold,
  LabelJoin,
  readAnswerRecord,
  type ThresholdCheck,
  toLabelledRows,
} from "evaluator-calibration";
import {
  CliError,
  type CliContext,
  parseWords,
  printable,
  readPositionals,
  UsageError,
} from "evaluator-cli-kit";
import { type Command, endings } from "./command.ts";
import { readAnswers } from "./files/read-answers.ts";
import { readArtifact } from "./files/read-artifact.ts";
import { readRecords } from "./files/read-records.ts";
import { describeCheck } from "./sentences.ts";

const usage = `
Usage: evaluator check calibration.json --labels FILE [--answers FILE...] [options]

Tests the promised thresholds again on new labels. Without --answers, each label also holds what was
printed: { id, question, truth, probability or probabilities, modelId? }.
Ends with 0: all hold. 1: one is broken. 3: the labels are too few to say.

  --allow-unknown   counts labels whose id the answers do not know, instead of refusing them
  --last            takes the last of several answers or labels for one record
  --json            prints the checks as JSON
`;

const options = {
  labels: { type: "string" },
  answers: { type: "string", multiple: true },
  "allow-unknown": { type: "boolean", default: false },
  last: { type: "boolean", default: false },
  json: { type: "boolean", default: false },
} as const;

/** Tests locked thresholds again. */
export const checkCommand: Command = {
  examples: [
    "evaluator check calibration/calibration.json --labels june.ndjson --answers inbox.triage.sqlite",
  ],
  usage: usage.trimStart(),
  run: check,
};

async function check(words: readonly string[], context: CliContext): Promise<number> {
  const { values, positionals } = parseWords(words, options);
  const [name = ""] = readPositionals(positionals, ["calibration.json"]);
  if (values.labels === undefined) throw new UsageError("--labels is missing: the new labels.");
  const artifact = await readArtifact(name, context);
  const { last } = values;
  const table =
    values.answers === undefined
      ? await answersOfLabels(values.labels, { last, context })
      : (await readAnswers(values.answers, { last }, context)).table;
  const join = new LabelJoin(table, { last, allowUnknown: values["allow-unknown"] });
  const labels = { name: values.labels, path: resolve(context.cwd, values.labels), csv: true };
  await readRecords(labels, context, (record) => join.add(record, labels.name));
  const checks = checkAll(artifact, join);
  const notes = describeModels(artifact, table);
  if (values.json) context.stdout.write(`${JSON.stringify({ notes, checks }, null, 2)}\n`);
  else context.stdout.write([...notes, ...checks.map(describeCheck), ""].join("\n"));
  return endingOf(checks);
}

async function answersOfLabels(
  name: string,
  { last, context }: { last: boolean; context: CliContext },
): Promise<AnswerTable> {
  const table = new AnswerTable({ last });
  const file = { name, path: resolve(context.cwd, name) };
  await readRecords(file, context, (record) => readAnswerRecord(record, { table, file: name }));
  return table;
}

function checkAll({ thresholds }: CalibrationArtifact, join: LabelJoin): ThresholdCheck[] {
  if (thresholds.length === 0) {
    throw new CliError(
      "The calibration holds no promised threshold, so there is nothing to check.",
      {
        exitCode: endings.notEnoughLabels,
      },
    );
  }
  return thresholds.flatMap((locked) => {
    const columns = join.columns.filter(({ column }) => column.question === locked.question);
    // No label of this question: none of them is at the threshold.
    if (columns.length === 0) {
      return [checkThreshold(locked, { p: new Float64Array(), cameTrue: new Uint8Array() })];
    }
    return columns.map((column) => checkThreshold(locked, toLabelledRows(column)));
  });
}

function describeModels({ model }: CalibrationArtifact, table: AnswerTable): string[] {
  const others = new Set(
    table.columns.map(({ source }) => source.modelId).filter((modelId) => modelId !== model.id),
  );
  return [...others].map((modelId) => {
    const who = modelId ?? "a model that is not named";
    return printable`These answers are of ${who}; the thresholds were promised for ${model.id ?? "a model that is not named"}.`;
  });
}

function endingOf(checks: readonly ThresholdCheck[]): number {
  if (checks.some(({ verdict }) => verdict === "broken")) return endings.broken;
  const isSure = checks.every(({ verdict }) => verdict === "holds");
  return isSure ? endings.holds : endings.notEnoughLabels;
}
