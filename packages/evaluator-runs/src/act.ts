import { existsSync, statSync } from "node:fs";
import type { Questions } from "evaluator-client";
import type { CalibrationArtifact, Decision } from "evaluator-calibration";
import { CliError, createProgress, exitCodes, printable, printTexts } from "evaluator-kit";
import { printCount, printCounted } from "./amounts.ts";
import { type ActRow, answerRows } from "./act-rows.ts";
import { findDecider, readCalibration, noPromise } from "./calibration.ts";
import { withResults } from "./journal-results.ts";
import { KnownTruths } from "./known-truths.ts";
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
  const resultsCommand = { ...command, calibration };
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
  const knownTruths = await KnownTruths.read(command.labels, context);
  await open(false, async ({ rows, calibrations }) => {
    const decider = findDecider(calibrations);
    for await (const row of rows) {
      decider.decide(row.kept, toRecord(row));
      knownTruths.addRow(row);
      checkedCount += 1;
      progress.show(() => `${printCounted(checkedCount, "answer")} checked`);
    }
    progress.end();
    decider.check();
    context.stderr.write(knownTruths.describeMissing());
    isExact = theseRecords(calibrations).length > 0;
    return 0;
  });
  // In the order of the input, as the printed acts: the journal may have records that the input has no more.
  if (isExact) await open(true, checkTheseRecords);
  let isPrinting = false;
  return await open(true, async (results) => {
    // Printed lines cannot be taken back.
    if (isPrinting) throw new CliError("A run began meanwhile; act again.");
    isPrinting = true;
    const counts = { acts: new Map<string, number>(), all: 0, unanswered: 0 };
    const lines = actLines(results, { ...command, knownTruths }, counts);
    const format = "ndjson";
    const texts = toSafeTexts(formatRecords(lines, { format, names: [] }), { format });
    // The reader of the output closed it early, as `head` does.
    if (!(await printTexts(texts, context))) return exitCodes.done;
    const next = readAnswers === null ? ` ("${context.source.program} work")` : "";
    context.stderr.write(describe(counts, next));
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
  const promisedText = `The promise is about exactly ${printCounted(missing, "record")}`;
  for await (const row of rows) {
    missing -= Object.values(decide(row.kept, toRecord(row))).filter(isOfTheseRecords).length;
  }
  if (missing === 0) return 0;
  const problem = `${promisedText}; ${printCount(missing)} of them are missing or changed here`;
  throw new CliError(`${problem}. Act on the calibrated answers, or calibrate again.`);
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

function toRecord({ input: { id }, keptState }: ActRow) {
  return { id, state: keptState };
}

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

type Counts = Record<"all" | "unanswered", number> & { readonly acts: Map<string, number> };

async function* actLines(
  { rows, calibrations }: ActInput,
  { actsOnly, knownTruths }: ActCommand & { readonly knownTruths: KnownTruths },
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
      const isWrong =
        ownDecision.act !== null && knownTruths.contradict(row, question, ownDecision.act);
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

function describe({ acts, all, unanswered: unansweredCount }: Counts, next: string): string {
  const actCount = [...acts.values()].reduce((sum, n) => sum + n, 0);
  const names = [...acts.keys()].toSorted();
  const countedNames = names.map((name) => printable`${name} ${printCount(acts.get(name) ?? 0)}`);
  const parts = [
    ...(actCount > 0 ? [countedNames.join(", ")] : []),
    `${printCount(all - actCount - unansweredCount)} for a person`,
    ...(unansweredCount > 0 ? [`${printCount(unansweredCount)} without an answer${next}`] : []),
  ];
  return `acts on ${printCount(actCount)} of ${printCount(all)}: ${parts.join("; ")}\n`;
}
