import { scaleLinear, scaleUtc } from "d3-scale";
import { html, type Html, type HtmlValue } from "./html.ts";

/** One axis of a plot. */
export interface Axis {
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
export interface PlotOptions {
  /** Description for readers who cannot see the picture. */
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  /** @default 440 */
  readonly width?: number;
  /** @default 300 */
  readonly height?: number;
}

/** Turns values of a plot into positions in its picture. */
export interface Scales {
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
}

const margin = { top: 10, right: 22, bottom: 36, left: 56 };

/** Returns a plot with its axes as an SVG picture; `draw` returns its content. */
export function plot(
  { title, x, y, width = 440, height = 300 }: PlotOptions,
  draw: (scales: Scales) => HtmlValue,
): Html {
  const [left, right] = [margin.left, width - margin.right];
  const [top, bottom] = [margin.top, height - margin.bottom];
  const xs = scaleLinear(x.domain, [left, right]);
  const ys = scaleLinear(y.domain, [bottom, top]);
  const xTicks = ticksOf(x).map(({ value, text }) => {
    return html`<line
        class="axis"
        x1="${xs(value)}"
        x2="${xs(value)}"
        y1="${bottom}"
        y2="${bottom + 4}"
      /><text x="${xs(value)}" y="${bottom + 16}" text-anchor="middle">${text}</text>`;
  });
  const yTicks = ticksOf(y).map(({ value, text }) => {
    return html`<line
        class="axis"
        x1="${left}"
        x2="${right}"
        y1="${ys(value)}"
        y2="${ys(value)}"
      /><text x="${left - 6}" y="${ys(value) + 4}" text-anchor="end">${text}</text>`;
  });
  const [center, middle] = [(left + right) / 2, (top + bottom) / 2];
  return html`<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}">
    ${yTicks}
    <line class="axis" x1="${left}" x2="${right}" y1="${bottom}" y2="${bottom}" />
    ${xTicks}
    <text class="label" x="${center}" y="${height - 4}" text-anchor="middle">${x.label}</text>
    <text x="11" y="${middle}" text-anchor="middle" transform="rotate(-90 11 ${middle})">
      ${y.label}
    </text>
    ${draw({ x: (value) => round(xs(value)), y: (value) => round(ys(value)) })}
  </svg>`;
}

function ticksOf({ domain, ticks = 5, format, isTime = false }: Axis) {
  if (!isTime) {
    const values = scaleLinear(domain, [0, 1]).ticks(ticks);
    return values.map((value) => ({ value, text: format?.(value) ?? String(value) }));
  }
  const times = scaleUtc(domain, [0, 1]);
  const name = times.tickFormat(ticks);
  return times.ticks(ticks).map((day) => {
    return { value: day.getTime(), text: format?.(day.getTime()) ?? name(day) };
  });
}

// A tenth of a pixel is finer than any screen and halves the file.
function round(position: number): number {
  return Math.round(10 * position) / 10;
}
