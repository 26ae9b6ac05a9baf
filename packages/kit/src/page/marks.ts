import { scaleLinear, scaleSqrt } from "d3-scale";
import { area, line, symbol, symbolCircle, symbolTriangle } from "d3-shape";
import { html, type Html, type HtmlValue } from "./html.ts";
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

/** Returns a circle, or a triangle for a highlighted point, so that colour is not the only sign. */
export function dot(point: Point, { x, y }: Scales, { isOutside = false } = {}): Html {
  const shape = symbol(isOutside ? symbolTriangle : symbolCircle, isOutside ? 34 : 16)() ?? "";
  const look = isOutside ? "dot outside" : "dot";
  return html`<path
    class="${look}"
    transform="translate(${x(point.x)} ${y(point.y)})"
    d="${shape}"
  />`;
}

/** Returns bars of a width from 0 to each count, starting at `x`. */
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

/** Returns a dot for each point; overlapping dots are darker. */
export function points(all: readonly Point[], { x, y }: Scales): Html[] {
  return all.map(
    (point) => html`<circle class="point" cx="${x(point.x)}" cy="${y(point.y)}" r="3.5" />`,
  );
}

/** Returns a cell for each count of an area; higher counts are darker. */
export function cells(
  counts: readonly { readonly from: Point; readonly to: Point; readonly count: number }[],
  { x, y }: Scales,
): Html[] {
  const shade = scaleSqrt([0, Math.max(1, ...counts.map(({ count }) => count))], [0, 1]);
  return counts.map(({ from, to, count }) => {
    const [width, height] = [x(to.x) - x(from.x), y(from.y) - y(to.y)];
    return html`<rect
      class="cell"
      x="${x(from.x)}"
      y="${y(to.y)}"
      width="${width.toFixed(1)}"
      height="${height.toFixed(1)}"
      fill-opacity="${shade(count).toFixed(2)}"
    />`;
  });
}

/** Returns named counts as a list of bars; its text keeps the page's size on any width. */
export function barList(
  counts: readonly { readonly name: string; readonly count: number }[],
  format: (count: number) => string = String,
): Html {
  const share = scaleLinear([0, Math.max(1, ...counts.map(({ count }) => count))], [0, 100]);
  const rows = counts.map(
    ({ name, count }) =>
      html`<li>
        <span class="bar-name">${name}</span
        ><span class="bar-track"
          ><span class="bar-length" style="width:${share(count).toFixed(1)}%"></span></span
        ><span class="bar-count">${format(count)}</span>
      </li>`,
  );
  return html`<ol class="bar-list">
    ${rows}
  </ol>`;
}

/** Returns a table: its head, then rows that begin with their name. */
export function table(head: readonly string[], rows: readonly (readonly HtmlValue[])[]): Html {
  return html`<div class="scroll" tabindex="0">
    <table class="table">
      <thead>
        <tr>
          ${head.map((cell) => html`<th scope="col">${cell}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ([name = "", ...cells]) =>
            html`<tr>
              <th scope="row">${name}</th>
              ${cells.map((cell) => html` <td>${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** A named point, and the offset of its name in pixels. */
export interface NamedPoint extends Point {
  /** @default "start" */
  readonly anchor?: "start" | "end";
  /** @default 6 */
  readonly dx?: number;
  /** @default -6 */
  readonly dy?: number;
}

/** Returns a name beside a point. */
export function name(text: string, point: NamedPoint, { x, y }: Scales): Html {
  const { anchor = "start", dx = 6, dy = -6 } = point;
  return html`<text
    class="name"
    x="${x(point.x) + dx}"
    y="${y(point.y) + dy}"
    text-anchor="${anchor}"
    >${text}</text
  >`;
}
