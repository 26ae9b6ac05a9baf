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
  const ofKin = reasonOfKin(testedRows, labelers);
  const noPromise = reasonOfDraw(testedRows) ?? ofKin;
  return { labelers, agreement: toAgreement(testedRows.joined), noPromise, ofKin };
}

function reasonOfDraw(testedRows: Rows): string | null {
  if (isFairDraw(testedRows, printedOf(testedRows))) return null;
  const [weightedText, why] =
    testedRows.weights === undefined
      ? ["", ", and the labels have no weights"]
      : [", by their weights,", ""];
  return `The printed values of the labelled records${weightedText} differ from those of the others by more than chance${why}: nothing is promised from them. Draw with pick, and keep its column drawn.`;
}

function reasonOfKin(testedRows: Rows, labelers: ReturnType<typeof listLabelers>): string | null {
  const kin = labelers.find(({ name }) => isOfFamily(name, testedRows.source.modelId));
  if (kin === undefined) return null;
  return `Labels made by ${kin.name} come from the answering model's own family: they share its mistakes, so nothing is promised from them.`;
}

/** Returns the labelers, those with most labels first. */
function listLabelers(columns: readonly JoinedColumn[]) {
  const counts = new Map<string, number>();
  for (const { join, labelerOf, votes } of columns) {
    for (const [at, single] of labelerOf.entries()) {
      const labelers = votes.get(at)?.map(({ labeler }) => labeler) ?? [single];
      const names = labelers.map((labeler) => join.labelers.list[labeler] ?? "");
      for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return Array.from(counts, ([name, n]) => ({ name, n })).toSorted(
    (one, other) => other.n - one.n || (one.name < other.name ? -1 : 1),
  );
}

/** How far two labels of a record differ; levels differ by the square of their distance. */
const distances = {
  levels: (one: number, other: number) => (one - other) ** 2,
  options: (one: number, other: number) => Number(one !== other),
};

/** Returns how far the labelers of a column agree on the records that several labelled; null without one. */
function toAgreement({ join, column, votes }: JoinedColumn) {
  const records = [...votes.values()]
    .map((givenItems) => givenItems.filter(({ truth }) => truth >= 0))
    .filter(({ length }) => length > 1);
  if (records.length === 0) return null;
  const comparedQuestion = records.flatMap((givenItems) =>
    givenItems.map(({ labeler, truth }) => {
      const differing = givenItems.filter((other) => other.truth !== truth).length;
      return { labeler, differs: differing / (givenItems.length - 1) };
    }),
  );
  const labels = records.map((givenItems) => givenItems.map(({ truth }) => truth));
  const disagree =
    comparedQuestion.reduce((sum, { differs }) => sum + differs, 0) / comparedQuestion.length;
  const own = Map.groupBy(comparedQuestion, ({ labeler }) => labeler);
  return {
    /** How many records have labels of several labelers. */
    n: records.length,
    labelers: own.size,
    /** How often another label of the same record differs. */
    disagree,
    alpha: krippendorffAlpha(labels, distances[column.isOrdered ? "levels" : "options"]),
    farthest:
      own.size < 3 || disagree === 0
        ? null
        : toFarthest(own, { names: join.labelers.list, disagree }),
    /** The largest share of single labels that any answers can fit: of two labels that differ it is at most one. */
    ceiling: 1 - disagree / 2,
  };
}

/** A labeler with fewer compared labels is not named. */
const LEAST_COMPARED = 10;

/** Returns the labeler whose labels surely differ most from those of the others on the same records. */
function toFarthest(
  own: ReadonlyMap<number, readonly { readonly differs: number }[]>,
  { names, disagree }: { readonly names: readonly string[]; readonly disagree: number },
) {
  const all = Array.from(own, ([labeler, labels]) => {
    const n = labels.length;
    const differing = labels.reduce((sum, { differs }) => sum + differs, 0);
    const differs = { value: differing / n, ...clopperPearson(differing, n) };
    // The labelers share the doubt.
    const byChance = binomialAtMost(n - differing, n, 1 - disagree) * own.size;
    return { name: names[labeler] ?? "", n, differs, isByChance: byChance > 0.05 };
  }).filter(({ n }) => n >= LEAST_COMPARED);
  return all.toSorted((one, other) => other.differs.low - one.differs.low)[0] ?? null;
}

/** Returns whether a labeler is a model of the same maker or name as the one that answered. */
function isOfFamily(labeler: string, modelId: string | null): boolean {
  if (labeler === "" || modelId === null) return false;
  const [one, other] = [findFamily(labeler), findFamily(modelId)];
  const isSameMaker = one.maker !== null && one.maker === other.maker;
  return isSameMaker || one.name === other.name;
}

function findFamily(id: string): { maker: string | null; name: string } {
  const parts = id.toLowerCase().split("/");
  const name = (parts.at(-1) ?? "").split(/[-.:@_ ]/, 1)[0] ?? "";
  return { maker: parts.length > 1 ? (parts.at(-2) ?? null) : null, name };
}
