import type { JoinedColumn } from "../input/join-labels.ts";
import { krippendorffAlpha } from "../scores/krippendorff.ts";
import { binomialAtMost } from "../math/special-functions.ts";
import { clopperPearson } from "../thresholds/intervals.ts";
import { isFairDraw } from "./fair-draw.ts";
import { printedOf, type Rows } from "./labelled-rows.ts";

/**
 * Returns the labelers of a column (without a name, an empty one), how far they agree, and the
 * reason for no promise, or null: for one from labels of a random draw, and for one from any labels.
 *
 * @param drawnColumn - The labels that were drawn for a promise.
 */
export function judgeLabels(testedRows: Rows, drawnColumn: JoinedColumn = testedRows.joined) {
  const labelers = listLabelers([...new Set([testedRows.joined, drawnColumn])]);
  const kinReason = reasonOfKin(testedRows, labelers);
  const noPromise = reasonOfDraw(testedRows) ?? kinReason;
  return { labelers, agreement: toAgreement(testedRows.joined), noPromise, ofKin: kinReason };
}

function reasonOfDraw(testedRows: Rows): string | null {
  if (isFairDraw(testedRows, printedOf(testedRows))) return null;
  const [weightedText, weightNote] =
    testedRows.weights === undefined
      ? ["", ", and the labels have no weights"]
      : [", by their weights,", ""];
  return `The labelled records${weightedText} are no random draw: their printed values differ by more than chance${weightNote}, so they promise nothing. Draw with pick, and keep its column drawn.`;
}

function reasonOfKin(testedRows: Rows, labelers: ReturnType<typeof listLabelers>): string | null {
  const kinLabeler = labelers.find(({ name }) => isOfFamily(name, testedRows.source.modelId));
  if (kinLabeler === undefined) return null;
  return `Labels made by ${kinLabeler.name} come from the answering model's family and share its mistakes, so they promise nothing.`;
}

/** Returns the labelers, those with most labels first. */
function listLabelers(columns: readonly JoinedColumn[]) {
  const labelCounts = new Map<string, number>();
  for (const { join, labelerOf, votes } of columns) {
    for (const [labelIndex, singleLabeler] of labelerOf.entries()) {
      const labelers = votes.get(labelIndex)?.map(({ labeler }) => labeler) ?? [singleLabeler];
      const labelerNames = labelers.map((labeler) => join.labelers.list[labeler] ?? "");
      for (const labelerName of labelerNames)
        labelCounts.set(labelerName, (labelCounts.get(labelerName) ?? 0) + 1);
    }
  }
  return Array.from(labelCounts, ([labelerName, labelCount]) => ({
    name: labelerName,
    n: labelCount,
  })).toSorted(
    (firstLabeler, secondLabeler) =>
      secondLabeler.n - firstLabeler.n || (firstLabeler.name < secondLabeler.name ? -1 : 1),
  );
}

/** How far two labels of a record differ; levels differ by the square of their distance. */
const distances = {
  levels: (firstTruth: number, secondTruth: number) => (firstTruth - secondTruth) ** 2,
  options: (firstTruth: number, secondTruth: number) => Number(firstTruth !== secondTruth),
};

/** Returns how far the labelers of a column agree on the records that several labelled; null without one. */
function toAgreement({ join, column, votes }: JoinedColumn) {
  const records = [...votes.values()]
    .map((givenItems) => givenItems.filter(({ truth }) => truth >= 0))
    .filter(({ length }) => length > 1);
  if (records.length === 0) return null;
  const comparedQuestion = records.flatMap((givenItems) =>
    givenItems.map(({ labeler, truth }) => {
      const differing = givenItems.filter((otherLabel) => otherLabel.truth !== truth).length;
      return { labeler, differs: differing / (givenItems.length - 1) };
    }),
  );
  const recordTruths = records.map((givenItems) => givenItems.map(({ truth }) => truth));
  const disagree =
    comparedQuestion.reduce((runningSum, { differs }) => runningSum + differs, 0) /
    comparedQuestion.length;
  const labelsByLabeler = Map.groupBy(comparedQuestion, ({ labeler }) => labeler);
  return {
    /** How many records have labels of several labelers. */
    n: records.length,
    labelers: labelsByLabeler.size,
    /** How often another label of the same record differs. */
    disagree,
    alpha: krippendorffAlpha(recordTruths, distances[column.isOrdered ? "levels" : "options"]),
    farthest:
      labelsByLabeler.size < 3 || disagree === 0
        ? null
        : toFarthest(labelsByLabeler, { labelerNames: join.labelers.list, disagree }),
    /** The largest share of single labels that any answers can fit: of two labels that differ it is at most one. */
    ceiling: 1 - disagree / 2,
  };
}

/** A labeler with fewer compared labels is not named. */
const LEAST_COMPARED = 10;

/** Returns the labeler whose labels surely differ most from those of the others on the same records. */
function toFarthest(
  labelsByLabeler: ReadonlyMap<number, readonly { readonly differs: number }[]>,
  {
    labelerNames,
    disagree,
  }: { readonly labelerNames: readonly string[]; readonly disagree: number },
) {
  const labelerReports = Array.from(labelsByLabeler, ([labeler, labelerLabels]) => {
    const labelCount = labelerLabels.length;
    const differing = labelerLabels.reduce((runningSum, { differs }) => runningSum + differs, 0);
    const differs = { value: differing / labelCount, ...clopperPearson(differing, labelCount) };
    // The labelers share the doubt.
    const byChance =
      binomialAtMost(labelCount - differing, labelCount, 1 - disagree) * labelsByLabeler.size;
    return {
      name: labelerNames[labeler] ?? "",
      n: labelCount,
      differs,
      isByChance: byChance > 0.05,
    };
  }).filter(({ n }) => n >= LEAST_COMPARED);
  return (
    labelerReports.toSorted(
      (firstReport, secondReport) => secondReport.differs.low - firstReport.differs.low,
    )[0] ?? null
  );
}

/** Returns whether a labeler is a model of the same maker or name as the one that answered. */
function isOfFamily(labeler: string, modelId: string | null): boolean {
  if (labeler === "" || modelId === null) return false;
  const [labelerFamily, modelFamily] = [findFamily(labeler), findFamily(modelId)];
  const isSameMaker = labelerFamily.maker !== null && labelerFamily.maker === modelFamily.maker;
  return isSameMaker || labelerFamily.name === modelFamily.name;
}

function findFamily(modelName: string): { maker: string | null; name: string } {
  const nameParts = modelName.toLowerCase().split("/");
  const familyName = (nameParts.at(-1) ?? "").split(/[-.:@_ ]/, 1)[0] ?? "";
  return { maker: nameParts.length > 1 ? (nameParts.at(-2) ?? null) : null, name: familyName };
}
