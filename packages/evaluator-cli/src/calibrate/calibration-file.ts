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
  const next = artifact === null || typeof artifact === "string" ? null : artifact;
  const path = join(out, FILE);
  const former = existsSync(resolve(cwd, path)) ? await readFormer(resolve(cwd, path)) : null;
  const lostParts = former === null ? [] : listLost(former.artifact, next);
  const hash = next && artifactHash(next);
  const notes = [
    ...(typeof artifact === "string" ? [artifact] : []),
    ...(next?.questionHash === null ? [NO_HASH] : []),
  ];
  const isKept = lostParts.length > 0 || (former?.artifact.thresholds.length ?? 0) > 0;
  if (former === null || former.hash === hash || !isKept)
    return { hash, notes, files: next && { [FILE]: next } };
  const keptName = `calibration.${former.hash}.json`;
  const lostText = printable`${path} no longer has ${lostParts.join(" and ")}, which this report does not give. `;
  const keptText = printable`The earlier file is kept as ${join(out, keptName)}.`;
  return {
    hash,
    notes: [...notes, `${lostParts.length === 0 ? "" : lostText}${keptText}`],
    files: { [FILE]: next ?? toEmpty(former.artifact, report), [keptName]: former.text },
  };
}

const NO_HASH =
  "calibration.json has no question hash, so calibrate() and the programs that apply it refuse it; --questions q.json adds the hash.";

async function readFormer(path: string) {
  return await readParsedFile(path, {
    parse: parseFormer,
    advice: "Name another folder with --out.",
  });
}

function parseFormer(text: string) {
  const artifact = parseCalibrationArtifact(text);
  return { text, artifact, hash: artifactHash(artifact) };
}

/** Returns the parts of a calibration that another one does not have, or has weaker. */
function listLost(former: CalibrationArtifact, next: CalibrationArtifact | null): string[] {
  const { model, questionHash } = former;
  const isSame =
    next?.model.id === model.id && (questionHash ?? next.questionHash) === next.questionHash;
  const own = isSame ? next : null;
  const lostPromises = former.thresholds.filter(
    (one) => own?.thresholds.some((other) => isAsStrong(other, one)) !== true,
  );
  const ownNames = new Set(own && recalibratedNames(own));
  const lostNames = recalibratedNames(former).filter((name) => !ownNames.has(name));
  return [
    ...lostPromises.map(describePromise),
    ...lostNames.map((name) => `the recalibration of ${name}`),
  ];
}

/** Returns whether a promise permits each act of an earlier one, at no higher risk. */
function isAsStrong(own: LockedThreshold, former: LockedThreshold): boolean {
  const records = own.these && new Set(own.these.records);
  return (
    own.question === former.question &&
    own.action === former.action &&
    own.threshold <= former.threshold &&
    own.maxRisk <= former.maxRisk &&
    own.confidence >= former.confidence &&
    (records === undefined || former.these?.records.every((one) => records.has(one)) === true)
  );
}

function describePromise({ question, action, threshold, maxRisk, these }: LockedThreshold) {
  return `the promise of ${question}=${action} (${printThreshold(threshold)} and above: ${describePromisedRisk(maxRisk, these)} wrong)`;
}

function recalibratedNames(artifact: CalibrationArtifact): string[] {
  if (artifact.kind === "by-question") return Object.keys(artifact.parameters);
  return artifact.kind === "none" ? [] : [artifact.question ?? "all questions"];
}

/** Returns a calibration that permits nothing. */
function toEmpty(
  { model, questionHash, rounding }: CalibrationArtifact,
  { files }: CalibrationReport,
): CalibrationArtifact {
  const fittedOn = { n: 0, from: null, to: null, hash: files.labels.sha256 };
  const about = { version: 2 as const, model, questionHash, rounding, fittedOn };
  return { ...about, kind: "none", parameters: {}, heldOut: null, thresholds: [] };
}

/**
 * Returns the artifact of a report: null if it has no threshold and no recalibration, a text if these
 * are of several sources. `askedHash` is the hash of the questions, for answers that do not keep it.
 */
export function toArtifact(
  { reports, files }: CalibrationReport,
  { answers: { table }, join }: Parameters<typeof buildReport>[0],
  askedHash: string | null,
): CalibrationArtifact | string | null {
  const useful = reports.filter(
    ({ actions, recalibration }) =>
      recalibration.recalibration !== null ||
      actions.some(({ promised: promisedThreshold }) => promisedThreshold !== null),
  );
  const [first] = useful;
  if (first === undefined) return null;
  const { source } = first;
  if (useful.some((report) => JSON.stringify(report.source) !== JSON.stringify(source))) {
    return "A calibration.json holds for one source, so this report gives none. Choose one with --model or --answers.";
  }
  const labelledCounts = [...join.columns, ...join.drawn].filter(
    ({ column }) =>
      column.source === source && useful.some(({ question }) => question === column.question),
  );
  const ids = new Set(
    labelledCounts.flatMap(({ column, rows }) => rows.map((row) => column.ids[row] ?? "")),
  );
  const labelers = new Set(useful.flatMap((report) => report.labelers.map(({ name }) => name)));
  const fits = useful.flatMap(({ question, recalibration: { recalibration, heldOut } }) =>
    recalibration === null ? [] : [{ question, recalibration, heldOut }],
  );
  const rest = {
    version: 2 as const,
    model: { id: source.modelId, wire: source.wire },
    questionHash: source.questionHash ?? askedHash,
    rounding: { probabilityDecimals: 2 },
    fittedOn: {
      n: Math.max(...useful.map(({ n, counts }) => n + counts.drawn)),
      ...table.days,
      hash: files.labels.sha256,
      // A million hashes take as long as the whole report.
      ids: [...ids].slice(0, 10_000).map(hashLabelledId).toSorted(),
      skipped: labelledCounts.reduce(
        (sum, { truth }) => sum + truth.filter((one) => one < 0).length,
        0,
      ),
      labelers: labelers.size,
    },
    heldOut: computeMean(fits.flatMap(({ heldOut }) => heldOut ?? [])),
    thresholds: useful.flatMap(({ actions }) =>
      actions.flatMap(({ promised: promisedThreshold }) => promisedThreshold ?? []),
    ),
  };
  const [fit, another] = fits;
  if (fit === undefined) return { ...rest, kind: "none", parameters: {} };
  if (another === undefined) return { ...rest, ...fit.recalibration, question: fit.question };
  const parameters = fits.map(({ question, recalibration }) => [question, recalibration] as const);
  return { ...rest, kind: "by-question", parameters: Object.fromEntries(parameters) };
}

function computeMean(losses: readonly { before: number; after: number }[]) {
  const sum = (key: "before" | "after") => losses.reduce((sum, loss) => sum + loss[key], 0);
  const n = losses.length;
  return n === 0 ? null : { before: sum("before") / n, after: sum("after") / n };
}
