import { createReadStream, existsSync, statSync } from "node:fs";
import { answerSchema, type Questions } from "evaluator-client";
import type { CalibrationArtifact, Decision } from "evaluator-calibration";
import {
  AnswerTable,
  CalibrationInputError,
  type InputRecord,
  yesOrNo,
} from "evaluator-calibration/reports";
import {
  CliError,
  createProgress,
  exitCodes,
  isRecord,
  printable,
  printTexts,
} from "evaluator-kit";
import { printCount, printCounted } from "./amounts.ts";
import { z } from "zod";
import { findDecider, readCalibration, noPromise } from "./calibration.ts";
import { readTable } from "./input/read-table.ts";
import { withResults } from "./journal-results.ts";
import type { FileCommand } from "./options.ts";
import { toInputPath, toJournalPath } from "./output/paths.ts";
import { formatRecords, toSafeTexts } from "./output/write-records.ts";
import type { ProgramContext } from "./service.ts";

type ActCommand = FileCommand<"act">;

/**
 * Prints the acts that a calibration promises on the answers of a run, in the order of its input, or why
 * there is none; returns the exit code, 2 if some records have no answer.
 *
 * @throws CliError before it prints, if the calibration is of another model or of other questions.
 */
export async function printActs(command: ActCommand, context: ProgramContext): Promise<number> {
  const { artifact: files } = command;
  const [calibration = ""] = files;
  const resultsCommand = { ...command, calibration, takesFile: true };
  const readAnswers = await answerFile(command, context);
  const open = async (isOrdered: boolean, use: (input: ActInput) => Promise<number>) =>
    readAnswers === null
      ? await withResults({ ...resultsCommand, isOrdered }, context, async ({ rows, questions }) =>
          use({ rows, calibrations: await readCalibrations(files, questions, context) }),
        )
      : await use(readAnswers());
  const progress = createProgress(context);
  let checkedCount = 0;
  let isExact = false;
  await open(false, async ({ rows, calibrations }) => {
    const decider = findDecider(calibrations);
    for await (const row of rows) {
      decider.decide(row.kept, toRecord(row));
      checkedCount += 1;
      progress.show(() => `${printCounted(checkedCount, "answer")} checked`);
    }
    progress.end();
    decider.check();
    isExact = theseRecords(calibrations).length > 0;
    return 0;
  });
  // In the order of the input, as the printed acts: the journal may have records that the input has no more.
  if (isExact) await open(true, checkTheseRecords);
  const isAgainst = await readKnownTruths(command, context);
  let isPrinting = false;
  return await open(true, async (results) => {
    // Printed lines cannot be taken back.
    if (isPrinting) throw new CliError("A run began while its acts were printed; act again.");
    isPrinting = true;
    const counts = { acts: new Map<string, number>(), all: 0, unanswered: 0 };
    const lines = actLines(results, { ...command, isAgainst }, counts);
    const format = "ndjson";
    const texts = toSafeTexts(formatRecords(lines, { format, names: [] }), { format });
    // The reader of the output closed it early, as `head` does.
    if (!(await printTexts(texts, context))) return exitCodes.done;
    context.stderr.write(describe(counts, context.source.program));
    return counts.unanswered === 0 ? exitCodes.done : exitCodes.unanswered;
  });
}

function isOfTheseRecords(decision: Decision): boolean {
  return decision.act !== null && decision.evidence.unlabelled !== undefined;
}

function theseRecords(calibrations: readonly CalibrationArtifact[]): readonly string[] {
  return calibrations.flatMap((one) => one.thresholds).flatMap(({ these }) => these?.records ?? []);
}

/** @throws CliError if some of the records that a promise is about are missing, or have other answers now. */
async function checkTheseRecords({ rows, calibrations }: ActInput): Promise<number> {
  const { decide } = findDecider(calibrations);
  let missing = theseRecords(calibrations).length;
  const promisedText = `The calibration promises acts on exactly ${printCounted(missing, "record")}`;
  for await (const row of rows) {
    missing -= Object.values(decide(row.kept, toRecord(row))).filter(isOfTheseRecords).length;
  }
  if (missing === 0) return 0;
  const problem = `${promisedText}, and ${printCount(missing)} of them are missing here or have another state or answer`;
  throw new CliError(`${problem}. Act on the answers that were calibrated, or calibrate again.`);
}

/** The results that acts are made of. */
interface ActInput {
  /** Of each engine its promises. */
  readonly calibrations: readonly CalibrationArtifact[];
  readonly rows: AsyncIterable<ActRow>;
}

async function readCalibrations(
  files: readonly string[],
  questions: Questions | null,
  context: ProgramContext,
): Promise<CalibrationArtifact[]> {
  return await Promise.all(files.map((file) => readCalibration(file, questions, context)));
}

/** The answers about a record; with a question, only that one is printed. */
interface ActRow {
  readonly input: { readonly id: string; readonly question?: string };
  readonly kept: Parameters<ReturnType<typeof findDecider>["decide"]>[0];
  /** The state that the journal keeps; a file of answers has none. */
  readonly keptState?: unknown;
}

function toRecord({ input: { id }, keptState }: ActRow) {
  return { id, state: keptState };
}

const answersSchema = z.object({
  id: z.string().min(1),
  answers: z.record(z.string(), answerSchema),
  modelId: z.string().nullable(),
  questionHash: z.string().nullable(),
  route: z
    .record(z.string(), z.object({ step: z.int(), modelId: z.string().nullable() }))
    .optional(),
  steps: z.array(z.object({ modelId: z.string().nullable() })).optional(),
});

/** Returns a function that reads a file of answers; null if a journal has them. */
async function answerFile({ file, journal, artifact }: ActCommand, context: ProgramContext) {
  const { cwd, env, source, signal } = context;
  if (file === undefined || journal !== undefined || env[source.journalVariable]) return null;
  const path = toInputPath(file, cwd);
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  if (!isFile || existsSync(toJournalPath(path, source))) return null;
  const calibrations = await readCalibrations(artifact, null, context);
  return (): ActInput => ({ calibrations, rows: answerRows(path, signal) });
}

async function* answerRows(path: string, signal: AbortSignal): AsyncGenerator<ActRow> {
  const ids = new Set<string>();
  for await (const records of readTable(createReadStream(path, { signal }))) {
    for (const record of records) {
      const where = printable`line ${String(record.line)} of ${path}`;
      const actRows = "value" in record ? [...answersIn(record, path)] : [];
      if (actRows.length === 0) {
        const problem = `There is no journal beside the file, and ${where} is no record of answers`;
        throw new CliError(`${problem}, as toAnswerRecord returns it; start a run first.`);
      }
      for (const row of actRows) {
        for (const key of listKeys(row)) {
          if (ids.size === ids.add(key).size) throw new CliError(`The id in ${where} is repeated.`);
        }
        yield row;
      }
    }
  }
}

/** Returns a key of a row and of each of its answers: a line may hold all answers about a record, or one. */
function listKeys({ input: { id, question = "" }, kept: evaluation }: ActRow): Set<string> {
  const questions = Object.keys(evaluation?.answers ?? {});
  return new Set([question, ...questions].map((one) => labelKey(id, one)));
}

/** Returns the answers of a record; one of a score, such as { id, question, probability }, is read as calibrate does. */
function* answersIn(record: InputRecord, path: string): Generator<ActRow> {
  const { data } = answersSchema.safeParse(record.value);
  if (data !== undefined) yield { input: data, kept: data };
  if (data !== undefined || !isRecord(record.value) || !("question" in record.value)) return;
  const table = new AnswerTable();
  try {
    table.addRecord(record, path);
  } catch (error) {
    if (error instanceof CalibrationInputError) throw new CliError(error.message, { cause: error });
    throw error;
  }
  for (const { ids, question, form, kind, options, values, source } of table.columns) {
    const shares = options.map((option, at) => [option, values[at] as number] as const);
    const answer =
      form === "probability"
        ? { type: kind, probability: values[0] as number }
        : { type: kind, probabilities: Object.fromEntries(shares) };
    const { modelId, questionHash } = source;
    const hashField = questionHash === null ? {} : { questionHash };
    const evaluation = { answers: { [question]: answer }, modelId, ...hashField };
    yield { input: { id: ids[0] as string, question }, kept: evaluation };
  }
}

type IsAgainst = (id: string, question: string, act: string) => boolean;

/** Returns whether a label contradicts an act: a person already gave the record another truth. */
async function readKnownTruths({ labels }: ActCommand, { cwd, signal }: ProgramContext) {
  if (labels === undefined) return () => false;
  const truths = new Map<string, unknown[]>();
  const path = toInputPath(labels, cwd);
  for await (const records of readTable(createReadStream(path, { signal }))) {
    for (const record of records) {
      const value = "value" in record && isRecord(record.value) ? record.value : {};
      const { id, question, truth } = value;
      const where = printable`line ${String(record.line)} of ${path}`;
      if (typeof id !== "string" && typeof id !== "number") {
        throw new CliError(`There is no label in ${where}; it needs an id.`);
      }
      if (truth === undefined || truth === null || truth === "") continue;
      const key = labelKey(`${id}`, typeof question === "string" ? question : "");
      truths.set(key, [...(truths.get(key) ?? []), truth]);
    }
  }
  return (id: string, question: string, act: string) => {
    const keys = [labelKey(id, question), labelKey(id, "")];
    const knownItems = keys.flatMap((key) => truths.get(key) ?? []);
    return knownItems.some((truth) => !isSameTruth(truth, act));
  };
}

function labelKey(id: string, question: string): string {
  return JSON.stringify([id, question]);
}

function isSameTruth(truth: unknown, act: string): boolean {
  const side = act === "yes" ? 1 : act === "no" ? 0 : -1;
  return String(truth) === act || (side >= 0 && yesOrNo(truth) === side);
}

type Counts = Record<"all" | "unanswered", number> & { readonly acts: Map<string, number> };

async function* actLines(
  { rows, calibrations }: ActInput,
  { actsOnly, isAgainst }: ActCommand & { readonly isAgainst: IsAgainst },
  counts: Counts,
) {
  const thresholds = calibrations.flatMap((artifact) => artifact.thresholds);
  const questions = [...new Set(thresholds.map(({ question }) => question))];
  if (questions.length === 0) {
    throw noPromise();
  }
  const { decide } = findDecider(calibrations);
  for await (const row of rows) {
    const { input } = row;
    const decisions = decide(row.kept, toRecord(row));
    for (const question of questions.filter((one) => one === (input.question ?? one))) {
      const ownDecision = decisions[question] ?? { act: null, why: "no-answer" as const };
      const isWrong = ownDecision.act !== null && isAgainst(input.id, question, ownDecision.act);
      const decision = isWrong ? { act: null, why: "label" as const } : ownDecision;
      counts.all += 1;
      if (decision.act !== null) {
        const name = `${question} ${decision.act}`;
        counts.acts.set(name, (counts.acts.get(name) ?? 0) + 1);
      } else if (decision.why === "no-answer") counts.unanswered += 1;
      if (decision.act !== null || !actsOnly) yield { id: input.id, question, ...decision };
    }
  }
}

function describe({ acts, all, unanswered: unansweredCount }: Counts, program: string): string {
  const takenCount = [...acts.values()].reduce((sum, n) => sum + n, 0);
  const names = [...acts.keys()].toSorted();
  const countedNames = names.map((name) => printable`${name} ${printCount(acts.get(name) ?? 0)}`);
  const parts = [
    ...(takenCount > 0 ? [countedNames.join(", ")] : []),
    `${printCount(all - takenCount - unansweredCount)} for a person`,
    ...(unansweredCount > 0
      ? [`${printCount(unansweredCount)} without an answer ("${program} work")`]
      : []),
  ];
  return `acts on ${printCount(takenCount)} of ${printCount(all)}: ${parts.join("; ")}\n`;
}
