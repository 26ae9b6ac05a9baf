import { resolve } from "node:path";
import { existsSync } from "node:fs";
import {
  artifactHash,
  type CalibrationArtifact,
  createRiskAlarm,
  type LockedThreshold,
  type SavedRiskAlarm,
  nameModel,
  questionHash,
} from "evaluator-calibration";
import {
  checkThreshold,
  checkThresholds,
  isFairTest,
  type ThresholdTest,
} from "evaluator-calibration/statistics";
import {
  CalibrationInputError,
  type JoinedColumn,
  toThresholdTest,
} from "evaluator-calibration/reports";
import {
  checkName,
  type CliContext,
  CliError,
  exitCodes,
  paintVerdicts,
  parseJson,
  printable,
  readParsedFile,
  printAtMost,
  writeWholeFile,
} from "evaluator-kit";
import {
  findFitted,
  hashLabelledId,
  lockBeside,
  noPromise,
  printCounted,
  readCalibration,
} from "evaluator-runs/source";
import type { ReportOptions } from "./commands/report-commands.ts";
import { joinNewLabels, readLabels } from "./new-labels.ts";
import { checkAnswered, readAnswers, readQuestionsFile } from "./read-files.ts";
import {
  describeCheck,
  describeOtherQuestions,
  describeRepeats,
  NO_FAIR_DRAW,
} from "./report/check-sentences.ts";

type TestedThreshold = Parameters<typeof describeCheck>[0];
type CheckOptions = ReportOptions<"check">;

/** Tests promised thresholds again on new labels. */
export async function check(
  name: string,
  { questions, ...options }: CheckOptions,
  context: CliContext,
) {
  const artifact = await readCalibration(name, null, context);
  if (artifact.thresholds.length === 0) throw noPromise();
  const file = await readQuestionsFile(questions, context);
  const { table } = await readAnswersOf(options, context);
  const promisedQuestions = artifact.thresholds.map(({ question }) => question);
  checkPromised(promisedQuestions, table.questions);
  const labels = await readLabels(options.labels, context);
  const about = { labels, artifacts: [artifact], promisedQuestions };
  const newLabels = joinNewLabels(table, { ...options, ...about });
  const columns = newLabels.join.columns.filter(({ column }) =>
    promisedQuestions.includes(column.question),
  );
  // A model that was asked again has its own promises.
  const isOwn = ({ column: { question, source } }: JoinedColumn) =>
    !table.steps.has(question) || source.modelId === artifact.model.id;
  const own = columns.some(isOwn) ? columns.filter(isOwn) : columns;
  const askedHash = file && questionHash(file);
  for (const column of own) refuseOthers(artifact, column, askedHash);
  const state = options.state === undefined ? null : resolve(context.cwd, options.state);
  const checks = await testThresholds(artifact, own, state);
  const notes = [
    ...newLabels.notes,
    ...(artifact.thresholds.some(({ these }) => these === undefined) ? describeRepeats(own) : []),
    ...describeChecks(artifact, state !== null),
    ...(options.answers === undefined ? [ONLY_LABELLED] : []),
    ...(checks.some(({ verdict }) => verdict === "no fair draw") ? [NO_FAIR_DRAW] : []),
  ];
  const lines = checks.map(describeCheck);
  if (options.json === true) {
    context.stdout.write(`${JSON.stringify({ notes, checks }, null, 2)}\n`);
  } else context.stdout.write([...notes, paintVerdicts(lines.join("\n"), context), ""].join("\n"));
  context.exitCode = computeExitCode(checks);
}

/** @throws CliError if there are answers, and none to a promised question. */
function checkPromised(promisedQuestions: readonly string[], answeredQuestions: readonly string[]) {
  if (answeredQuestions.length === 0) return;
  const isAnswered = promisedQuestions.some((question) => answeredQuestions.includes(question));
  if (!isAnswered) checkName("answered question", promisedQuestions[0], answeredQuestions);
}

/** Reads the answers, which labels may hold. @throws CliError that names --answers if a label holds none. */
async function readAnswersOf(options: Omit<CheckOptions, "questions">, context: CliContext) {
  try {
    const answers = await readAnswers(options.answers ?? [options.labels], options, context);
    if (options.answers !== undefined) checkAnswered(answers.table, options.answers);
    return answers;
  } catch (error) {
    if (options.answers !== undefined || !(error instanceof CalibrationInputError)) throw error;
    const next = "Name --answers, or give each label its answer.";
    throw new CliError(`${error.message}. ${next}`, { cause: error });
  }
}

/** @param state - The file of alarms that the rows are added to; null for one test. */
async function testThresholds(
  artifact: CalibrationArtifact,
  columns: readonly JoinedColumn[],
  state: string | null,
): Promise<TestedThreshold[]> {
  if (state !== null) return await addSpotChecks(state, artifact, columns);
  const isFitted = findFitted([artifact]);
  const tests = artifact.thresholds.flatMap((lockedThreshold): ThresholdTest[] => {
    const own = listTests(lockedThreshold, columns, isFitted);
    // Without a label of the question, no row is at the threshold.
    const none = { locked: lockedThreshold, rows: { p: [], cameTrue: [] }, all: null };
    return own.length === 0 ? [none] : own;
  });
  return checkThresholds(tests);
}

/** Returns a test of a promise for each column of its question. */
function listTests(
  lockedThreshold: LockedThreshold,
  columns: readonly JoinedColumn[],
  isFitted: ReturnType<typeof findFitted>,
) {
  return columns
    .filter(({ column }) => column.question === lockedThreshold.question)
    .map((joinedColumn) => toThresholdTest(lockedThreshold, joinedColumn, isFitted));
}

/**
 * @param askedHash - The hash of the questions, for answers that do not keep it.
 * @throws CliError for answers that the thresholds were not promised for.
 */
function refuseOthers(
  { model, questionHash: promisedHash }: CalibrationArtifact,
  joinedColumn: JoinedColumn,
  askedHash: string | null,
): void {
  const { source } = joinedColumn.column;
  const problem =
    source.modelId !== model.id
      ? `are of ${nameModel(source.modelId)}, the thresholds of ${nameModel(model.id)}`
      : describeOtherQuestions(source.questionHash ?? askedHash, promisedHash);
  if (problem === null) return;
  throw new CliError(
    printable`The answers of ${printCounted(joinedColumn.rows.length, "label")} ${problem}. Check the same model and questions, or calibrate again.`,
  );
}

const ONLY_LABELLED =
  "Whether the labels are a random draw is unknown; name all answers with --answers.";

function* describeChecks({ questionHash, thresholds }: CalibrationArtifact, isRunning: boolean) {
  if (thresholds.some(({ these }) => these !== undefined))
    yield "A promise about exactly some records is tested by their labels only.";
  if (questionHash === null)
    yield "Make sure that calibration and answers have the same questions; neither names them.";
  const doubt = printAtMost(1 - (thresholds[0]?.confidence ?? 0));
  yield isRunning
    ? `The chance of a false alarm is at most ${doubt} in all runs. A risk below the promised one raises none.`
    : "Repeated checks raise the chance of a false alarm; with --state it stays the same.";
}

/** Returns the exit code of promises that were tested again. */
export function computeExitCode(checks: readonly Pick<TestedThreshold, "verdict">[]): number {
  const verdicts = new Set(checks.map(({ verdict }) => verdict));
  if (verdicts.has("broken") || verdicts.has("alarm")) return exitCodes.failed;
  const isOpen = verdicts.has("not enough labels") || verdicts.has("no fair draw");
  return isOpen ? exitCodes.notEnoughEvidence : exitCodes.done;
}

/** The content of a file of alarms. */
interface SavedAlarms {
  /** The hash of the calibration. */
  readonly artifact: string;
  /** One for each threshold, in their order, with hashes of the ids whose labels were added. */
  readonly alarms: readonly { readonly ids: readonly string[]; readonly alarm: SavedRiskAlarm }[];
}

const advice = "Name another file with --state.";

/**
 * Adds the labels that a file of alarms does not have yet to the alarm of each threshold.
 *
 * @throws CliError if the file is of another calibration, or another process has it.
 */
async function addSpotChecks(
  path: string,
  artifact: CalibrationArtifact,
  columns: readonly JoinedColumn[],
): Promise<TestedThreshold[]> {
  const unlock = lockBeside(path, "check");
  try {
    const parse = (text: string) => openAlarms(artifact, text);
    const isNew = !existsSync(path);
    const alarms = isNew ? openAlarms(artifact) : await readParsedFile(path, { parse, advice });
    const isFitted = findFitted([artifact]);
    const isUnfair = alarms.map((alarm) =>
      listTests(alarm.locked, columns, isFitted)
        .map((test) => addRows(alarm, test))
        .includes(false),
    );
    await writeAlarms(path, artifact, alarms);
    return alarms.map(({ locked: lockedThreshold, needed: neededCount, alarm }, at) => {
      const { n, wrong, evidence, alarm: isAlarm } = alarm.toJSON();
      const silent = isUnfair[at] === true ? ("no fair draw" as const) : ("no alarm" as const);
      return {
        locked: lockedThreshold,
        n,
        wrong,
        evidence,
        needed: neededCount,
        verdict: isAlarm ? "alarm" : silent,
      };
    });
  } finally {
    unlock();
  }
}

function openAlarms(artifact: CalibrationArtifact, text?: string) {
  const savedAlarms = text === undefined ? null : (parseJson(text) as SavedAlarms | null);
  if (text !== undefined && savedAlarms?.artifact !== artifactHash(artifact)) {
    throw new Error("holds no alarms of this calibration");
  }
  return artifact.thresholds.map((lockedThreshold, at) => {
    // All alarms of a file share the chance of a false one.
    const neededCount = Math.ceil(
      artifact.thresholds.length / (1 - lockedThreshold.confidence) - 1e-9,
    );
    const bound = { maxRisk: lockedThreshold.maxRisk, confidence: 1 - 1 / neededCount };
    const { ids, alarm } = savedAlarms?.alarms[at] ?? {};
    return {
      locked: lockedThreshold,
      needed: neededCount,
      ids: new Set(ids),
      alarm: createRiskAlarm(bound, alarm),
    };
  });
}

type Alarm = ReturnType<typeof openAlarms>[number];

/** Adds new labels of a question; adds none and returns false if they are no fair draw of the acts. */
function addRows({ ids, alarm }: Alarm, test: ReturnType<typeof toThresholdTest>): boolean {
  if (!isFairTest(test)) return false;
  const { locked: lockedThreshold, rows } = test;
  const fresh = rows.ids.flatMap((id, at) => {
    const hash = hashLabelledId(id);
    if (ids.has(hash)) return [];
    const row = { p: rows.p.slice(at, at + 1), cameTrue: rows.cameTrue.slice(at, at + 1) };
    const { n, wrong } = checkThreshold(lockedThreshold, row);
    return n === 0 ? [] : [{ hash, isWrong: wrong === 1, weight: rows.weights?.[at] ?? 1 }];
  });
  const heaviest = fresh.reduce((most, { weight }) => Math.max(most, weight), 0);
  for (const { hash, isWrong, weight } of fresh) {
    ids.add(hash);
    // Each counts with a probability by its weight: those that do are an equal sample.
    if (Number.parseInt(hash, 16) / 2 ** 32 < weight / heaviest) alarm.add(isWrong);
  }
  return true;
}

async function writeAlarms(
  path: string,
  artifact: CalibrationArtifact,
  openedAlarms: readonly Alarm[],
) {
  const alarms = openedAlarms.map(({ locked: { question, action, threshold }, ids, alarm }) => {
    return { question, action, threshold, ids: [...ids], alarm: alarm.toJSON() };
  });
  const savedAlarms: SavedAlarms = { artifact: artifactHash(artifact), alarms };
  await writeWholeFile(path, `${JSON.stringify(savedAlarms)}\n`);
}
