import type { JudgedPrompt } from "./policies.ts";

/** A point of a curve: the share of prompts that the dearest tier answers, and the gap recovered. */
interface GainPoint {
  readonly share: number;
  /** Of the quality between always the cheapest and always the dearest, 0..1 (PGR). */
  readonly recovered: number;
}

/** Prompts from the hardest to the easiest, those of equal hardness together. */
export type Order = readonly (readonly number[])[];

/** Returns the order of prompts by a value, the highest first. */
export function orderBy(values: readonly number[]): Order {
  const indexes = [...values.keys()].toSorted(
    (one, other) => (values[other] ?? 0) - (values[one] ?? 0),
  );
  const groups: number[][] = [];
  let before = Number.NaN;
  for (const index of indexes) {
    const value = values[index] ?? 0;
    if (value === before) groups.at(-1)?.push(index);
    else groups.push([index]);
    before = value;
  }
  return groups;
}

/** Prompts of which a draw with replacement holds each so often. */
export type Counts = readonly number[];

/**
 * Returns the gain of sending the hardest prompts to the dearest tier and all others to the cheapest.
 * Inside a group of equals the order is any, so the curve is straight there. With it the mean recovered
 * gap over all shares (APGR), and the least share that recovers half, and four fifths, of the gap (CPT).
 */
export function gainOf(prompts: readonly JudgedPrompt[], order: Order, counts?: Counts) {
  const weight = (index: number) => counts?.[index] ?? 1;
  const gapOf = (index: number) => {
    const { quality } = prompts[index] ?? { quality: [] };
    return (quality.at(-1) ?? 0) - (quality[0] ?? 0);
  };
  const groups = order.map((group) => ({
    size: sum(group, weight),
    gap: sum(group, (index) => weight(index) * gapOf(index)),
  }));
  const total = sum(groups, ({ size }) => size);
  const gap = sum(groups, ({ gap }) => gap);
  if (gap <= 0) return { points: [], apgr: null, cpt50: null, cpt80: null };
  const points: GainPoint[] = [{ share: 0, recovered: 0 }];
  let [asked, recovered, apgr] = [0, 0, 0];
  for (const group of groups) {
    if (group.size === 0) continue;
    const width = group.size / total;
    apgr += width * (recovered + group.gap / gap / 2);
    asked += width;
    recovered += group.gap / gap;
    points.push({ share: asked, recovered });
  }
  return { points, apgr, cpt50: shareFor(points, 0.5), cpt80: shareFor(points, 0.8) };
}

function shareFor(points: readonly GainPoint[], wanted: number): number | null {
  for (const [index, { share, recovered }] of points.entries()) {
    const before = points[index - 1];
    if (recovered < wanted) continue;
    if (before === undefined || recovered === before.recovered) return share;
    const part = (wanted - before.recovered) / (recovered - before.recovered);
    return before.share + part * (share - before.share);
  }
  return null;
}

function sum<TItem>(items: readonly TItem[], value: (item: TItem) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}
