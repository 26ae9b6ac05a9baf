import { describeBlank } from "./report/sentences.ts";
import { findFitted, printCounted } from "evaluator-runs/source";
import type { CalibrationArtifact } from "evaluator-calibration";
import { type InputRecord, type JoinOptions, LabelJoin } from "evaluator-calibration/reports";
import { CliError, type CliContext } from "evaluator-kit";
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
}

/**
 * Joins the labels that did not make a promise, with notes about labels that count as wrong, that are left
 * out, or that may be old.
 *
 * @throws CliError if all labels made the promise.
 */
export function joinNewLabels(
  table: LabelledTable,
  { labels, artifacts, ...options }: NewLabelsOptions,
) {
  const join = new LabelJoin(table, options);
  const isFitted = findFitted(artifacts);
  let [used, takenCount] = [0, 0];
  for (const record of labels.records) {
    // A label with `draw` was drawn for a promise.
    const { id, draw } = listFields(record.value);
    if (draw != null || isFitted(String(id))) used += 1;
    else {
      takenCount += 1;
      join.add(record, labels.name);
    }
  }
  const isSame = artifacts.some(({ fittedOn }) => fittedOn.hash === labels.sha256);
  if (isSame || (used > 0 && takenCount === 0)) {
    throw new CliError("These labels made the promise; label other records to test it.");
  }
  return { join, notes: [...describe(join, used, artifacts)] };
}

function* describe(join: LabelJoin, used: number, artifacts: readonly CalibrationArtifact[]) {
  const skippedCount = join.columns
    .flatMap(({ truth }) => truth)
    .filter((truth) => truth < 0).length;
  if (skippedCount > 0)
    yield `Skipped, or labelers tie: ${printCounted(skippedCount, "label")}, which count as wrong.`;
  if (join.blank > 0) yield describeBlank(join.blank);
  if (used > 0) yield `Left out: ${printCounted(used, "label")} that made the promise.`;
  for (const { fittedOn } of artifacts) {
    const missing = fittedOn.n - (fittedOn.ids?.length ?? 0);
    if (missing > 0)
      yield `The calibration does not name ${printCounted(missing, "label")} it was made from; give new ones only.`;
  }
}
