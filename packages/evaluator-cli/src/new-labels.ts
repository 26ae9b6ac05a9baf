import { describeBlank } from "./report/sentences.ts";
import { findFitted, printCounted } from "evaluator-runs/source";
import type { CalibrationArtifact } from "evaluator-calibration";
import { type InputRecord, type JoinOptions, LabelJoin } from "evaluator-calibration/reports";
import { CliError, type CliContext, printable } from "evaluator-kit";
import { listFields, readRecords } from "./read-files.ts";

type LabelledTable = ConstructorParameters<typeof LabelJoin>[0];

/** Reads a file of labels. */
export async function readLabels(name: string, context: CliContext) {
  const records: InputRecord[] = [];
  const { sha256 } = await readRecords(name, context, (record) => records.push(record));
  return { name, records, sha256 };
}

interface NewLabelsOptions extends JoinOptions {
  readonly labels: Awaited<ReturnType<typeof readLabels>>;
  /** The calibrations whose promises are tested. */
  readonly artifacts: readonly CalibrationArtifact[];
  /** The questions of these promises. */
  readonly promisedQuestions: readonly string[];
  /** What a label is joined with. @default "an answer" */
  readonly about?: string;
}

/**
 * Joins the labels that did not make a promise, with notes about labels that count as wrong, that are left
 * out, or that may be old.
 *
 * @throws CliError if all labels made the promise, or were drawn for one.
 */
export function joinNewLabels(
  labelledTable: LabelledTable,
  { labels, artifacts, promisedQuestions, about, ...options }: NewLabelsOptions,
) {
  const labelJoin = new LabelJoin(labelledTable, options);
  const isFitted = findFitted(artifacts);
  let [used, drawn] = [0, 0];
  for (const labelRecord of labels.records) {
    // A label with `draw` was drawn for a promise, perhaps after this one was made.
    const { id, draw } = listFields(labelRecord.value);
    if (isFitted(String(id))) used += 1;
    else if (draw != null) drawn += 1;
    else labelJoin.add(labelRecord, labels.name);
  }
  const isSame = artifacts.some(({ fittedOn }) => fittedOn.hash === labels.sha256);
  const hasNew = labels.records.length > used + drawn;
  if (isSame || (used > 0 && !hasNew)) {
    throw new CliError("These labels made the promise; label other records to test it.");
  }
  if (drawn > 0 && !hasNew) {
    throw new CliError(`These labels ${DRAWN}; label random records to test it.`);
  }
  const missingNotes = [...new Set(promisedQuestions)]
    .map((question) => Object.assign(labelJoin.countsOf(question), { question }))
    .filter((counts) => counts.joined === 0)
    .map((counts) => describeUnjoined(labels.name, [counts], { wanted: counts.question, about }));
  return {
    join: labelJoin,
    notes: [...missingNotes, ...describeJoined(labelJoin, { used, drawn }, artifacts)],
  };
}

const DRAWN = "were drawn for a promise, so they are no random draw";

function* describeJoined(
  labelJoin: LabelJoin,
  { used, drawn }: Record<"used" | "drawn", number>,
  artifacts: readonly CalibrationArtifact[],
) {
  const skippedCount = labelJoin.columns
    .flatMap(({ truth }) => truth)
    .filter((truth) => truth < 0).length;
  if (skippedCount > 0)
    yield `Skipped, or labelers tie: ${printCounted(skippedCount, "label")}, counted as wrong.`;
  if (labelJoin.blank > 0) yield describeBlank(labelJoin.blank);
  if (used > 0) yield `Left out: ${printCounted(used, "label")} that made the promise.`;
  if (drawn > 0) yield `Left out: ${printCounted(drawn, "label")} that ${DRAWN}.`;
  for (const { fittedOn } of artifacts) {
    const unnamedCount = fittedOn.n - (fittedOn.ids?.length ?? 0);
    if (unnamedCount > 0)
      yield `The calibration does not name ${printCounted(unnamedCount, "label")} it was made from; give only new ones.`;
  }
}

/** Returns why no label of a file is joined with what it is about; `wanted` names the wanted questions. */
export function describeUnjoined(
  labelsFileName: string,
  counts: readonly Readonly<{ question: string; labelled: number; drawn: number }>[],
  { about = "an answer", wanted }: { about?: string | undefined; wanted: string | undefined },
) {
  if (counts.every(({ labelled, drawn }) => labelled + drawn === 0)) {
    return printable`${labelsFileName} has no label${wanted === undefined ? "" : ` of ${wanted}`}.`;
  }
  const countsByQuestion = counts
    .map(({ question, labelled }) => `${question}: ${labelled}`)
    .join(", ");
  const problem = printable`No label of ${labelsFileName} has ${about} (labels by question: ${countsByQuestion})`;
  return `${problem}. Compare the ids of the two files.`;
}
