import { area, line, symbol, symbolCircle, symbolTriangle } from "d3-shape";
import { html, type Html } from "./html.ts";
import type { Scales } from "./plot.ts";

/** A point of a plot. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Returns a line through points; `kind` names its look. */
export function curve(
  points: readonly Point[],
  { x, y }: Scales,
  kind: "curve" | "curve dashed" | "guide" | "limit",
): Html {
  const path = line<Point>(
    (point) => x(point.x),
    (point) => y(point.y),
  )(points);
  return html`<path class="${kind}" d="${path ?? ""}" />`;
}

/** Returns the area between two limits. */
export function band(
  points: readonly { readonly x: number; readonly low: number; readonly high: number }[],
  { x, y }: Scales,
): Html {
  const path = area<(typeof points)[number]>(
    (point) => x(point.x),
    (point) => y(point.low),
    (point) => y(point.high),
  )(points);
  return html`<path class="band" d="${path ?? ""}" />`;
}

/** Returns a circle, or a triangle for a point that stands out, so that colour is not the only sign. */
export function dot(point: Point, { x, y }: Scales, { isOutside = false } = {}): Html {
  const shape = symbol(isOutside ? symbolTriangle : symbolCircle, isOutside ? 34 : 16)() ?? "";
  const look = isOutside ? "dot outside" : "dot";
  return html`<path
    class="${look}"
    transform="translate(${x(point.x)} ${y(point.y)})"
    d="${shape}"
  />`;
}

/** Returns bars from 0 up to each count, from `x` on and so wide. */
export function bars(
  counts: readonly { readonly from: number; readonly to: number; readonly count: number }[],
  { x, y }: Scales,
): Html[] {
  return counts.map(({ from, to, count }) => {
    const width = Math.max(0.5, x(to) - x(from) - 0.5);
    return html`<rect
      class="bar"
      x="${x(from)}"
      y="${y(count)}"
      width="${width}"
      height="${y(0) - y(count)}"
    />`;
  });
}

/** Returns a name beside a point. */
export function name(
  text: string,
  point: Point,
  { x, y }: Scales,
  {
    anchor = "start",
    dx = 6,
    dy = -6,
  }: { anchor?: "start" | "end"; dx?: number; dy?: number } = {},
): Html {
  return html`<text
    class="name"
    x="${x(point.x) + dx}"
    y="${y(point.y) + dy}"
    text-anchor="${anchor}"
    >${text}</text
  >`;
}
