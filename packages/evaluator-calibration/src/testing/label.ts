import type { PromiseDraw } from "../thresholds/promise-draw.ts";

/** Labels records in the order of the draw, until it ends or as many are labelled; returns their indexes. */
export function label(
  draw: PromiseDraw,
  most: number,
  isWrong: (index: number) => boolean = () => false,
): number[] {
  const labelled: number[] = [];
  for (let index = draw.next(); index !== null; index = draw.next()) {
    draw.add(index, isWrong(index));
    if (labelled.push(index) === most) break;
  }
  return labelled;
}
