import { scaleLinear, scaleUtc } from "d3-scale";
import { area, line, symbol, symbolCircle, symbolTriangle } from "d3-shape";
import { html, type Html, type HtmlValue } from "./html.ts";

/** One axis of a plot. */
interface Axis {
  readonly domain: readonly [number, number];
  readonly label: string;
  /** About how many ticks. @default 5 */
  readonly ticks?: number;
  /** @default the format of d3 */
  readonly format?: (value: number) => string;
  /** Whether values are times in milliseconds: ticks are then days, months or years. @default false */
  readonly isTime?: boolean;
}

/** Size and place of a plot in its picture. */
interface PlotOptions {
  /** Description for readers who cannot see the picture. */
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly height?: number;
}

/** Turns values of a plot into positions in its picture. */
type Scales = Readonly<Record<"x" | "y", (value: number) => number>>;

const width = 440;
const margin = { top: 10, right: 22, bottom: 36, left: 56 };

/** Returns a plot with its axes as an SVG picture; `draw` returns its content. */
export function plot(
  { title, x, y, height = 300 }: PlotOptions,
  draw: (scales: Scales) => HtmlValue,
): Html {
  const [left, right] = [margin.left, width - margin.right];
  const [top, bottom] = [margin.top, height - margin.bottom];
  const xs = scaleLinear(x.domain, [left, right]);
  const ys = scaleLinear(y.domain, [bottom, top]);
  const xTicks = ticksOf(x).map(({ value, text }) => [
    axisLine([xs(value), bottom], [xs(value), bottom + 4]),
    tickText([xs(value), bottom + 16], "middle", text),
  ]);
  const yTicks = ticksOf(y).map(({ value, text }) => [
    axisLine([left, ys(value)], [right, ys(value)]),
    tickText([left - 6, ys(value) + 4], "end", text),
  ]);
  const [center, middle] = [(left + right) / 2, (top + bottom) / 2];
  return html`<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}">
    ${yTicks} ${axisLine([left, bottom], [right, bottom])} ${xTicks}
    <text class="label" x="${center}" y="${height - 4}" text-anchor="middle">${x.label}</text>
    <text x="11" y="${middle}" text-anchor="middle" transform="rotate(-90 11 ${middle})">
      ${y.label}
    </text>
    ${draw({ x: (value) => round(xs(value)), y: (value) => round(ys(value)) })}
  </svg>`;
}

type Place = readonly [x: number, y: number];

function axisLine([x1, y1]: Place, [x2, y2]: Place): Html {
  return html`<line class="axis" x1="${x1}" x2="${x2}" y1="${y1}" y2="${y2}" />`;
}

function tickText([x, y]: Place, anchor: "middle" | "end", text: string): Html {
  return html`<text x="${x}" y="${y}" text-anchor="${anchor}">${text}</text>`;
}

function ticksOf({ domain, ticks = 5, format, isTime = false }: Axis) {
  const times = scaleUtc(domain, [0, 1]);
  const nameTime = times.tickFormat(ticks);
  const values = isTime ? times.ticks(ticks).map(Number) : scaleLinear(domain, [0, 1]).ticks(ticks);
  const nameOf = format ?? (isTime ? (ms: number) => nameTime(new Date(ms)) : String);
  return values.map((value) => ({ value, text: nameOf(value) }));
}

// A tenth of a pixel is finer than any screen and halves the file.
function round(position: number): number {
  return Math.round(10 * position) / 10;
}

/** A point of a plot. */
type Point = Readonly<Record<"x" | "y", number>>;

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

/** A named point, and the offset of its name in pixels. */
interface NamedPoint extends Point {
  readonly anchor?: "start" | "end";
  readonly dx?: number;
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
