import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  artifactHash,
  type CalibrationArtifact,
  type LockedThreshold,
  parseCalibrationArtifact,
} from "evaluator-calibration";
import { type CliContext, printable, printThreshold, readParsedFile } from "evaluator-kit";
import { describePromisedRisk, hashLabelledId } from "evaluator-runs/source";
import type { buildReport, CalibrationReport } from "./calibration-report.ts";

const FILE = "calibration.json";

interface ReplaceOptions {
  readonly report: CalibrationReport;
  readonly out: string;
}

/**
 * Returns the `calibration.json` after a report, its hash, and notes on it. Programs act on the file, so it is always of the last
 * report: if that has nothing, the file permits nothing. An earlier one with a promise, or with more, is kept by its hash: acts
 * name it, and `audit` needs it to leave out the labels that made it.
 *
 * @param artifact - The result of {@link toArtifact}.
 * @throws CliError if the file is no calibration.
 */
export async function replaceCalibration(
  artifact: ReturnType<typeof toArtifact>,
  { report, out }: ReplaceOptions,
  { cwd }: CliContext,
) {
  const nextArtifact = artifact === null || typeof artifact === "string" ? null : artifact;
  const calibrationPath = join(out, FILE);
  const formerFile = existsSync(resolve(cwd, calibrationPath))
    ? await readFormerFile(resolve(cwd, calibrationPath))
    : null;
  const lostParts = formerFile === null ? [] : listLostParts(formerFile.artifact, nextArtifact);
  const hash = nextArtifact && artifactHash(nextArtifact);
  const notes = [
    ...(typeof artifact === "string" ? [artifact] : []),
    ...(nextArtifact?.questionHash === null ? [NO_HASH] : []),
  ];
  const isKept = lostParts.length > 0 || (formerFile?.artifact.thresholds.length ?? 0) > 0;
  if (formerFile === null || formerFile.hash === hash || !isKept)
    return { hash, notes, files: nextArtifact && { [FILE]: nextArtifact } };
  const keptName = `calibration.${formerFile.hash}.json`;
  const lostText = printable`${calibrationPath} no longer has ${lostParts.join(" and ")}, which this report does not give. `;
  const keptText = printable`The earlier file is kept as ${join(out, keptName)}.`;
  return {
    hash,
    notes: [...notes, `${lostParts.length === 0 ? "" : lostText}${keptText}`],
    files: {
      [FILE]: nextArtifact ?? toEmptyArtifact(formerFile.artifact, report),
      [keptName]: formerFile.text,
    },
  };
}

const NO_HASH =
  "calibration.json has no question hash, so programs refuse to apply it; add --questions q.json.";

async function readFormerFile(calibrationPath: string) {
  return await readParsedFile(calibrationPath, {
    parse: parseFormerFile,
    advice: "Name another folder with --out.",
  });
}

function parseFormerFile(text: string) {
  const artifact = parseCalibrationArtifact(text);
  return { text, artifact, hash: artifactHash(artifact) };
}

/** Returns the parts of a calibration that another one does not have, or has weaker. */
function listLostParts(
  formerArtifact: CalibrationArtifact,
  nextArtifact: CalibrationArtifact | null,
): string[] {
  const { model, questionHash } = formerArtifact;
  const isSame =
    nextArtifact?.model.id === model.id &&
    (questionHash ?? nextArtifact.questionHash) === nextArtifact.questionHash;
  const comparableArtifact = isSame ? nextArtifact : null;
  const lostPromises = formerArtifact.thresholds.filter(
    (formerThreshold) =>
      comparableArtifact?.thresholds.some((nextThreshold) =>
        isAsStrong(nextThreshold, formerThreshold),
      ) !== true,
  );
  const nextNames = new Set(comparableArtifact && listRecalibratedNames(comparableArtifact));
  const lostNames = listRecalibratedNames(formerArtifact).filter(
    (recalibratedName) => !nextNames.has(recalibratedName),
  );
  return [
    ...lostPromises.map(describePromise),
    ...lostNames.map((recalibratedName) => `the recalibration of ${recalibratedName}`),
  ];
}

/** Returns whether a promise permits each act of an earlier one, at no higher risk. */
function isAsStrong(nextThreshold: LockedThreshold, formerThreshold: LockedThreshold): boolean {
  const nextRecordIds = nextThreshold.these && new Set(nextThreshold.these.records);
  return (
    nextThreshold.question === formerThreshold.question &&
    nextThreshold.action === formerThreshold.action &&
    nextThreshold.threshold <= formerThreshold.threshold &&
    nextThreshold.maxRisk <= formerThreshold.maxRisk &&
    nextThreshold.confidence >= formerThreshold.confidence &&
    (nextRecordIds === undefined ||
      formerThreshold.these?.records.every((recordId) => nextRecordIds.has(recordId)) === true)
  );
}

function describePromise({ question, action, threshold, maxRisk, these }: LockedThreshold) {
  return `the promise of ${question}=${action} (${printThreshold(threshold)} and above: ${describePromisedRisk(maxRisk, these)} wrong)`;
}

function listRecalibratedNames(artifact: CalibrationArtifact): string[] {
  if (artifact.kind === "by-question") return Object.keys(artifact.parameters);
  return artifact.kind === "none" ? [] : [artifact.question ?? "all questions"];
}

/** Returns a calibration that permits nothing. */
function toEmptyArtifact(
  { model, questionHash, rounding }: CalibrationArtifact,
  { files }: CalibrationReport,
): CalibrationArtifact {
  const fittedOn = { n: 0, from: null, to: null, hash: files.labels.sha256 };
  const sharedFields = { version: 2 as const, model, questionHash, rounding, fittedOn };
  return { ...sharedFields, kind: "none", parameters: {}, heldOut: null, thresholds: [] };
}

/**
 * Returns the artifact of a report: null if it has no threshold and no recalibration, a text if these
 * are of several sources. `askedHash` is the hash of the questions, for answers that do not keep it.
 */
export function toArtifact(
  { reports, files }: CalibrationReport,
  { answers: { table }, join: labelJoin }: Parameters<typeof buildReport>[0],
  askedHash: string | null,
): CalibrationArtifact | string | null {
  const usefulReports = reports.filter(
    ({ actions, recalibration }) =>
      recalibration.recalibration !== null ||
      actions.some(({ promised: promisedThreshold }) => promisedThreshold !== null),
  );
  const [firstReport] = usefulReports;
  if (firstReport === undefined) return null;
  const { source } = firstReport;
  if (usefulReports.some((report) => JSON.stringify(report.source) !== JSON.stringify(source))) {
    return "A calibration.json is of one source; choose it with --model or --answers.";
  }
  const usefulColumns = [...labelJoin.columns, ...labelJoin.drawn].filter(
    ({ column }) =>
      column.source === source &&
      usefulReports.some(({ question }) => question === column.question),
  );
  const labelledIds = new Set(
    usefulColumns.flatMap(({ column, rows }) => rows.map((rowIndex) => column.ids[rowIndex] ?? "")),
  );
  const labelerNames = new Set(
    usefulReports.flatMap((report) => report.labelers.map(({ name }) => name)),
  );
  const recalibratedQuestions = usefulReports.flatMap(
    ({ question, recalibration: { recalibration, heldOut } }) =>
      recalibration === null ? [] : [{ question, recalibration, heldOut }],
  );
  const sharedFields = {
    version: 2 as const,
    model: { id: source.modelId, wire: source.wire },
    questionHash: source.questionHash ?? askedHash,
    rounding: { probabilityDecimals: 2 },
    fittedOn: {
      n: Math.max(...usefulReports.map(({ n, counts }) => n + counts.drawn)),
      ...table.days,
      hash: files.labels.sha256,
      // A million hashes take as long as the whole report.
      ids: [...labelledIds].slice(0, 10_000).map(hashLabelledId).toSorted(),
      skipped: usefulColumns.reduce(
        (total, { truth }) => total + truth.filter((truthIndex) => truthIndex < 0).length,
        0,
      ),
      labelers: labelerNames.size,
    },
    heldOut: computeMeanLoss(recalibratedQuestions.flatMap(({ heldOut }) => heldOut ?? [])),
    thresholds: usefulReports.flatMap(({ actions }) =>
      actions.flatMap(({ promised: promisedThreshold }) => promisedThreshold ?? []),
    ),
  };
  const [firstQuestion, secondQuestion] = recalibratedQuestions;
  if (firstQuestion === undefined) return { ...sharedFields, kind: "none", parameters: {} };
  if (secondQuestion === undefined)
    return { ...sharedFields, ...firstQuestion.recalibration, question: firstQuestion.question };
  const parameters = recalibratedQuestions.map(
    ({ question, recalibration }) => [question, recalibration] as const,
  );
  return { ...sharedFields, kind: "by-question", parameters: Object.fromEntries(parameters) };
}

function computeMeanLoss(losses: readonly { before: number; after: number }[]) {
  const sumLosses = (key: "before" | "after") => losses.reduce((sum, loss) => sum + loss[key], 0);
  const lossCount = losses.length;
  return lossCount === 0
    ? null
    : { before: sumLosses("before") / lossCount, after: sumLosses("after") / lossCount };
}
