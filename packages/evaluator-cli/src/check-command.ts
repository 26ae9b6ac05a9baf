import { resolve } from "node:path";
import {
  type AnswerSource,
  AnswerTable,
  type CalibrationArtifact,
  checkThreshold,
  type JoinedColumn,
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
import { hashOfId } from "./files/labelled-ids.ts";
import { readAnswers } from "./files/read-answers.ts";
import { readArtifact } from "./files/read-artifact.ts";
import { readRecords } from "./files/read-records.ts";
import { describeCheck } from "./sentences.ts";

const usage = `
Usage: evaluator check calibration.json --labels FILE [--answers FILE...] [options]

Tests the promised thresholds again on new labels. Without --answers, each label also holds what was
printed: { id, question, truth, probability or probabilities, modelId?, questionHash? }.
Labels that made the promise are left out; skipped records count as wrong. Answers of another model or
to other questions are refused.
Ends with 0: all hold. 1: one is broken, or the answers are refused. 3: the labels are too few to say.

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
  if (artifact.thresholds.length === 0) {
    const problem = "The calibration holds no promised threshold, so there is nothing to check.";
    throw new CliError(problem, { exitCode: endings.notEnoughLabels });
  }
  const { last } = values;
  const table =
    values.answers === undefined
      ? await answersOfLabels(values.labels, { last, context })
      : (await readAnswers(values.answers, { last }, context)).table;
  const join = new LabelJoin(table, { last, allowUnknown: values["allow-unknown"] });
  const labels = { name: values.labels, path: resolve(context.cwd, values.labels), csv: true };
  const used = usedLabels(artifact);
  const { sha256 } = await readRecords(labels, context, (record) => {
    if (!used.takes(record.value)) join.add(record, labels.name);
  });
  const columns = join.columns.filter(({ column }) =>
    artifact.thresholds.some(({ question }) => question === column.question),
  );
  refuseUsed({ columns, used: used.count, isSameFile: sha256 === artifact.fittedOn.hash });
  for (const { column, rows } of columns) refuseOthers(artifact, column.source, rows.length);
  const checks = checkAll(artifact, columns);
  const notes = describeLimits(artifact, used.count);
  if (values.json) context.stdout.write(`${JSON.stringify({ notes, checks }, null, 2)}\n`);
  else context.stdout.write([...notes, ...checks.map(describeCheck), ""].join("\n"));
  return endingOf(checks);
}

/** Labels that made the promise cannot test it: they are left out, and counted. */
function usedLabels({ fittedOn }: CalibrationArtifact) {
  const hashes = new Set(fittedOn.ids);
  return {
    count: 0,
    takes(value: unknown): boolean {
      const { id } = (typeof value === "object" && value !== null ? value : {}) as { id?: unknown };
      const isNamed = typeof id === "string" || typeof id === "number";
      const isUsed = isNamed && hashes.has(hashOfId(String(id)));
      if (isUsed) this.count += 1;
      return isUsed;
    },
  };
}

/** @throws CliError if no label is left but those that made the promise. */
function refuseUsed({
  columns,
  used,
  isSameFile,
}: {
  readonly columns: readonly JoinedColumn[];
  readonly used: number;
  readonly isSameFile: boolean;
}): void {
  if (!isSameFile && (used === 0 || columns.length > 0)) return;
  const problem = "These labels made the promise, so they cannot test it.";
  throw new CliError(`${problem} Label other records of the same model and questions.`);
}

function nameOf(model: string | null): string {
  return model ?? "a model that is not named";
}

/** @throws CliError for answers that the thresholds were not promised for. */
function refuseOthers(
  { model, questionHash }: CalibrationArtifact,
  source: AnswerSource,
  labels: number,
): void {
  if (source.modelId !== model.id) {
    throw new CliError(
      printable`${String(labels)} labelled answers are of ${nameOf(source.modelId)}; the thresholds were promised for ${nameOf(model.id)}. Check that model's answers, or calibrate again.`,
    );
  }
  if (source.questionHash === questionHash) return;
  const [has, lacks] =
    questionHash === null ? ["the answers", "the calibration"] : ["the calibration", "the answers"];
  const isNamed = source.questionHash !== null && questionHash !== null;
  throw new CliError(
    isNamed
      ? printable`${String(labels)} labelled answers are to other questions than the thresholds were promised for. Check answers to the same questions, or calibrate again.`
      : `The questions of ${lacks} are not known (no question hash), and those of ${has} are, so nothing shows that they are the same. Check answers that keep the hash, such as a journal, or calibrate again.`,
  );
}

function describeLimits({ questionHash, fittedOn }: CalibrationArtifact, used: number): string[] {
  const missing = fittedOn.n - (fittedOn.ids?.length ?? 0);
  return [
    ...(used === 0 ? [] : [`${used} labels are left out: they made the promise.`]),
    ...(missing <= 0
      ? []
      : [`The calibration does not name ${missing} labels it was made from; give new ones only.`]),
    ...(questionHash !== null
      ? []
      : [
          "Neither the calibration nor the answers name their questions; make sure they are the same.",
        ]),
    "A check that is repeated is one of several: each more raises the chance of a false alarm.",
  ];
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

function checkAll(
  { thresholds }: CalibrationArtifact,
  joined: readonly JoinedColumn[],
): ThresholdCheck[] {
  return thresholds.flatMap((locked) => {
    const columns = joined.filter(({ column }) => column.question === locked.question);
    // No label of this question: none of them is at the threshold.
    if (columns.length === 0) return [checkThreshold(locked, { p: [], cameTrue: [] })];
    return columns.map((column) => checkThreshold(locked, toLabelledRows(column).tested));
  });
}

function endingOf(checks: readonly ThresholdCheck[]): number {
  if (checks.some(({ verdict }) => verdict === "broken")) return endings.broken;
  const isSure = checks.every(({ verdict }) => verdict === "holds");
  return isSure ? endings.holds : endings.notEnoughLabels;
}
