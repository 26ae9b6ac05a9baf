import type { JoinedColumn } from "../input/join-labels.ts";
import { cohenKappa } from "../scores/probability-scores.ts";
import { isFairDraw } from "./fair-draw.ts";
import { printedOf, type Rows } from "./labelled-rows.ts";

/**
 * Returns the labelers of a column (without a name, an empty one), how far each two of them agree, and the
 * reason for no promise, or null: for one from labels of a random draw, and for one from any labels.
 *
 * @param drawn - The labels that were drawn for a promise.
 */
export function judgeLabels(tested: Rows, drawn: JoinedColumn = tested.joined) {
  const labelers = labelersOf([...new Set([tested.joined, drawn])]);
  const ofKin = reasonOfKin(tested, labelers);
  const noPromise = reasonOfDraw(tested) ?? ofKin;
  const agreements = agreementsOf(tested.joined);
  return { labelers, agreements, ceiling: ceilingOf(agreements), noPromise, ofKin };
}

/**
 * Returns the largest share of single labels that any answers can fit, or null without two labelers. It
 * rests on their disagreement alone: if two labels of a record differ, an answer fits at most one of them.
 */
function ceilingOf(agreements: ReturnType<typeof agreementsOf>): number | null {
  const pairs = agreements.reduce((sum, { n }) => sum + n, 0);
  const differing = agreements.reduce((sum, { n, disagree }) => sum + n * disagree, 0);
  return pairs === 0 ? null : 1 - differing / pairs / 2;
}

function reasonOfDraw(tested: Rows): string | null {
  if (isFairDraw(tested, printedOf(tested))) return null;
  const [weighted, why] =
    tested.weights === undefined
      ? ["", ", and the labels have no weights"]
      : [", by their weights,", ""];
  return `The printed values of the labelled records${weighted} differ from those of the others by more than chance${why}: nothing is promised from them. Draw with pick, and keep its column drawn.`;
}

function reasonOfKin(tested: Rows, labelers: ReturnType<typeof labelersOf>): string | null {
  const kin = labelers.find(({ name }) => isOfFamily(name, tested.source.modelId));
  if (kin === undefined) return null;
  return `Labels made by ${kin.name} come from the answering model's own family: they share its mistakes, so nothing is promised from them.`;
}

/** Returns the labelers, those with most labels first. */
function labelersOf(columns: readonly JoinedColumn[]) {
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

/** Returns how far each two labelers agree on the records that both labelled; levels weigh quadratically. */
function agreementsOf(joined: JoinedColumn) {
  const names = joined.join.labelers.list;
  const pairs = [...joined.votes.values()].flatMap((votes) => {
    const given = votes
      .filter(({ truth }) => truth >= 0)
      .map(({ labeler, truth }) => ({ name: names[labeler] ?? "", truth }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1));
    return given.flatMap((one, at) => given.slice(at + 1).map((other) => ({ one, other })));
  });
  const weights = joined.column.isOrdered ? "quadratic" : "none";
  const byLabelers = Map.groupBy(pairs, ({ one, other }) => JSON.stringify([one.name, other.name]));
  return Array.from(byLabelers, ([labelers, same]) => {
    const [a, b] = [same.map(({ one }) => one.truth), same.map(({ other }) => other.truth)];
    const differing = same.filter(({ one, other }) => one.truth !== other.truth).length;
    return {
      labelers: JSON.parse(labelers) as [string, string],
      n: same.length,
      disagree: differing / same.length,
      /** NaN if both give all records one label. */
      kappa: cohenKappa(a, b, { weights }),
    };
  });
}

/** Returns whether a labeler is a model of the same maker or name as the one that answered. */
function isOfFamily(labeler: string, modelId: string | null): boolean {
  if (labeler === "" || modelId === null) return false;
  const [one, other] = [familyOf(labeler), familyOf(modelId)];
  const isSameMaker = one.maker !== null && one.maker === other.maker;
  return isSameMaker || one.name === other.name;
}

function familyOf(id: string): { maker: string | null; name: string } {
  const parts = id.toLowerCase().split("/");
  const name = (parts.at(-1) ?? "").split(/[-.:@_ ]/, 1)[0] ?? "";
  return { maker: parts.length > 1 ? (parts.at(-2) ?? null) : null, name };
}
