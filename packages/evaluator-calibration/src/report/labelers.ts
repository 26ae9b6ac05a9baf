import type { JoinedColumn } from "../input/join-labels.ts";
import { cohenKappa } from "../scores/cohen-kappa.ts";

/** One labeler, and how many labels are theirs; without a name, an empty one. */
export interface Labeler {
  readonly name: string;
  readonly n: number;
}

/** How far two labelers agree on the records that both labelled. */
export interface LabelerAgreement {
  readonly labelers: readonly [string, string];
  readonly n: number;
  /** The share of records with different labels. */
  readonly disagree: number;
  /** Cohen's kappa, of levels with quadratic weights; NaN if both give all records one label. */
  readonly kappa: number;
}

/** Returns who labelled a column, who most first. */
export function labelersOf(joined: JoinedColumn, names: readonly string[]): Labeler[] {
  const counts = new Map<number, number>();
  const add = (labeler: number) => counts.set(labeler, (counts.get(labeler) ?? 0) + 1);
  for (const [at, labeler] of joined.labelerOf.entries()) if (!joined.votes.has(at)) add(labeler);
  for (const { labeler } of [...joined.votes.values()].flat()) add(labeler);
  return [...counts]
    .map(([labeler, n]) => ({ name: names[labeler] ?? "", n }))
    .toSorted((one, other) => other.n - one.n || (one.name < other.name ? -1 : 1));
}

/** Returns how far each two labelers of a column agree. */
export function agreementsOf(joined: JoinedColumn, names: readonly string[]): LabelerAgreement[] {
  const pairs = new Map<string, { labelers: [string, string]; a: number[]; b: number[] }>();
  for (const votes of joined.votes.values()) {
    const said = votes
      .filter(({ truth }) => truth >= 0)
      .map(({ labeler, truth }) => ({ name: names[labeler] ?? "", truth }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1));
    for (const [at, one] of said.entries()) {
      for (const other of said.slice(at + 1)) {
        const key = JSON.stringify([one.name, other.name]);
        const pair = pairs.get(key) ?? { labelers: [one.name, other.name], a: [], b: [] };
        pairs.set(key, pair);
        pair.a.push(one.truth);
        pair.b.push(other.truth);
      }
    }
  }
  const weights = joined.column.kind === "score" ? "quadratic" : "none";
  return [...pairs.values()].map(({ labelers, a, b }) => {
    const differing = a.filter((truth, at) => truth !== b[at]).length;
    const kappa = cohenKappa(a, b, { weights });
    return { labelers, n: a.length, disagree: differing / a.length, kappa };
  });
}
