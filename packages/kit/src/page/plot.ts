import { scaleLinear, scaleUtc } from "d3-scale";
import { area, line, symbol, symbolCircle, symbolTriangle } from "d3-shape";
import { html, type Html, type HtmlValue } from "./html.ts";
import { table } from "./page.ts";

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

/** A figure: its words, and the table behind its picture. */
interface FigureOptions {
  readonly title: string;
  /** Explains the picture. */
  readonly about?: HtmlValue;
  /** The look of each kind of line, in words. */
  readonly keys?: readonly (readonly [look: LineLook | "band", text: string])[];
  readonly head: readonly string[];
  readonly rows: readonly (readonly HtmlValue[])[];
  /** A name for readers who cannot see the picture. @default the title */
  readonly name?: string;
}

interface PlotOptions extends FigureOptions {
  readonly x: Axis;
  readonly y: Axis;
  /** @default 260 */
  readonly height?: number;
  /** Room at the right for labels, in pixels. @default 0 */
  readonly room?: number;
}

/** Turns values of a plot into positions in its picture. */
type Scales = Readonly<Record<"x" | "y", (value: number) => number>>;

/** The width of a plot in its own pixels. */
const WIDTH = 440;
const margin = { top: 10, right: 22, bottom: 36, left: 56 };

/** Returns a figure with a plot and its axes; `draw` returns its content. */
export function plot(options: PlotOptions, draw: (scales: Scales) => HtmlValue): Html {
  const { title, x, y, height = 260, room = 0, name = title } = options;
  const [left, right] = [margin.left, WIDTH - margin.right - room];
  const [top, bottom] = [margin.top, height - margin.bottom];
  const [scaleX, scaleY] = [
    scaleLinear(x.domain, [left, right]),
    scaleLinear(y.domain, [bottom, top]),
  ];
  const toX = (value: number) => round(scaleX(value));
  const toY = (value: number) => round(scaleY(value));
  const xTicks = listTicks(x).map(({ value, text: tickLabel }) => [
    axisLine([toX(value), bottom], [toX(value), bottom + 4]),
    html`<text class="tick-x" x="${toX(value)}" y="${bottom + 16}" text-anchor="middle">
      ${tickLabel}
    </text>`,
  ]);
  const yTicks = listTicks(y).map(({ value, text }) => [
    axisLine([left, toY(value)], [right, toY(value)]),
    html`<text x="${left - 6}" y="${round(toY(value) + 4)}" text-anchor="end">${text}</text>`,
  ]);
  const [center, middle] = [(left + right) / 2, (top + bottom) / 2];
  const plotPicture = html`<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${name}">
    ${yTicks} ${axisLine([left, bottom], [right, bottom])} ${xTicks}
    <text class="axis-name" x="${center}" y="${height - 4}" text-anchor="middle">${x.label}</text>
    <text
      class="axis-name"
      x="11"
      y="${middle}"
      text-anchor="middle"
      transform="rotate(-90 11 ${middle})"
    >
      ${y.label}
    </text>
    ${draw({ x: toX, y: toY })}
  </svg>`;
  return figure(options, plotPicture);
}

function figure({ title, about, keys = [], ...figureOptions }: FigureOptions, picture: Html): Html {
  const { name: figureName = title, head, rows } = figureOptions;
  const legendItems = keys.map(([look, keyText]) => {
    const sampleShape =
      look === "band" ? html`<rect width="28" height="12" />` : html`<path d="M0,6H28" />`;
    return html`<li>
      <svg viewBox="0 0 28 12" aria-hidden="true"><g class="${look}">${sampleShape}</g></svg
      >${keyText}
    </li>`;
  });
  return html`<figure class="plot">
    <figcaption>${title}${about === undefined ? null : html`<small>${about}</small>`}</figcaption>
    ${picture}
    ${
      keys.length === 0
        ? null
        : html`<ul class="keys">
            ${legendItems}
          </ul>`
    }
    <details>
      <summary>Rows</summary>
      ${table(`${figureName}: rows`, head, rows)}
    </details>
  </figure>`;
}

type Place = readonly [x: number, y: number];

function axisLine([startX, startY]: Place, [endX, endY]: Place): Html {
  return html`<line class="axis" x1="${startX}" x2="${endX}" y1="${startY}" y2="${endY}" />`;
}

function listTicks({ domain, ticks = 5, format, isTime = false }: Axis) {
  const timeScale = scaleUtc(domain, [0, 1]);
  const formatTime = timeScale.tickFormat(ticks);
  const tickValues = isTime
    ? timeScale.ticks(ticks).map(Number)
    : scaleLinear(domain, [0, 1]).ticks(ticks);
  const formatTick = format ?? (isTime ? (timeMs: number) => formatTime(new Date(timeMs)) : String);
  return tickValues.map((tickValue) => ({ value: tickValue, text: formatTick(tickValue) }));
}

// A tenth of a pixel is finer than any screen and halves the file.
function round(position: number): number {
  return Math.round(10 * position) / 10;
}

/** A point of a plot. */
type Point = Readonly<Record<"x" | "y", number>>;

/** A point with the words that a reader gets there. */
type Mark = Point & { readonly title: string };

type LineLook = "curve" | "curve dashed" | "guide" | "limit";

/** Returns a line through points. */
export function curve(
  points: readonly Point[],
  { x, y }: Scales,
  { look = "curve", title }: { readonly look?: LineLook; readonly title: string },
): Html {
  const pathShape = line<Point>(
    (point) => x(point.x),
    (point) => y(point.y),
  )(points);
  return html`<path class="mark ${look}" d="${pathShape ?? ""}"><title>${title}</title></path>`;
}

/** Returns the area between two limits. */
export function band(
  points: readonly { readonly x: number; readonly low: number; readonly high: number }[],
  { x, y }: Scales,
  title: string,
): Html {
  const areaShape = area<(typeof points)[number]>(
    (point) => x(point.x),
    (point) => y(point.low),
    (point) => y(point.high),
  )(points);
  return html`<path class="mark band" d="${areaShape ?? ""}"><title>${title}</title></path>`;
}

/** Returns a circle, or a triangle for a highlighted point, so that colour is not the only sign. */
export function dot(point: Mark, { x, y }: Scales, { isOutside = false } = {}): Html {
  const symbolShape =
    symbol(isOutside ? symbolTriangle : symbolCircle, isOutside ? 34 : 16)() ?? "";
  const classNames = isOutside ? "mark dot outside" : "mark dot";
  return html`<path
    class="${classNames}"
    transform="translate(${x(point.x)} ${y(point.y)})"
    d="${symbolShape}"
  >
    <title>${point.title}</title>
  </path>`;
}

interface HistogramOptions extends Omit<FigureOptions, "head" | "rows"> {
  readonly x: Axis;
  /** The width of a bar. */
  readonly step: number;
  /** What is counted, such as `mails`. */
  readonly counted: string;
  readonly height: number;
}

const compact = (count: number) => count.toLocaleString("en", { notation: "compact" });

/** Returns a figure of how often the values of each step occur. */
export function histogram(
  values: Iterable<readonly [value: number, count: number]>,
  { step, counted, x, ...options }: HistogramOptions,
): Html {
  // By floating-point error a value may be just below its bar.
  const valuesByBin = Map.groupBy(values, ([value]) => Math.floor(value / step + 1e-9));
  const histogramBars = [...valuesByBin]
    .toSorted(([firstBin], [secondBin]) => firstBin - secondBin)
    .map(([binIndex, binValues]) => {
      const [from, to] = [binIndex * step, (binIndex + 1) * step];
      const count = binValues.reduce((total, [, valueCount]) => total + valueCount, 0);
      return { from, to, count, name: `${from.toFixed(2)} to ${to.toFixed(2)}` };
    });
  const highestCount = Math.max(1, ...histogramBars.map(({ count }) => count));
  const tickCount = Math.min(Math.floor(options.height / 50), highestCount);
  const countAxis = {
    domain: [0, highestCount],
    label: counted,
    ticks: tickCount,
    format: compact,
  } as const;
  const tableRows = histogramBars.map(({ name, count }) => [name, count.toLocaleString("en")]);
  return plot(
    { ...options, x, y: countAxis, head: [x.label, counted], rows: tableRows },
    (scales) => bars(histogramBars, scales),
  );
}

function bars(
  histogramBars: readonly (Readonly<Record<"from" | "to" | "count", number>> & {
    readonly name: string;
  })[],
  { x, y }: Scales,
): Html[] {
  return histogramBars.map(({ from, to, count, name }) => {
    const barWidth = round(Math.max(0.5, x(to) - x(from) - 0.5));
    return html`<rect
      class="mark bar"
      x="${x(from)}"
      y="${y(count)}"
      width="${barWidth}"
      height="${round(y(0) - y(count))}"
    >
      <title>${name}: ${count.toLocaleString("en")}</title>
    </rect>`;
  });
}

/** Returns a dot for each point; overlapping dots are darker. */
export function points(marks: readonly Mark[], { x, y }: Scales): Html[] {
  return marks.map(
    (point) =>
      html`<circle class="mark point" cx="${x(point.x)}" cy="${y(point.y)}" r="3.5"
        ><title>${point.title}</title></circle
      >`,
  );
}

/** Pixels from one bar to the next. */
const BAR_STEP = 34;

/** Returns a figure of named counts: bars below their names, whose text keeps its size on any width. */
export function barPlot(
  counts: readonly { readonly name: string; readonly count: number }[],
  options: Omit<FigureOptions, "rows">,
  format: (count: number) => string = String,
): Html {
  const highestCount = Math.max(1, ...counts.map(({ count }) => count));
  const barElements = counts.map(({ name, count }, barIndex) => {
    const [barTop, width] = [BAR_STEP * barIndex, ((100 * count) / highestCount).toFixed(1)];
    return html`<text class="name" x="0" y="${barTop + 14}">${name}</text>
      <text x="100%" y="${barTop + 14}" text-anchor="end">${format(count)}</text>
      <rect class="track" x="0" y="${barTop + 20}" width="100%" height="6" rx="3" />
      <rect class="mark bar" x="0" y="${barTop + 20}" width="${width}%" height="6" rx="3">
        <title>${name}: ${format(count)}</title>
      </rect>`;
  });
  const pictureLabel = options.name ?? options.title;
  const heightStyle = `height:${BAR_STEP * counts.length}px`;
  const barPicture = html`<svg
    class="bars"
    style="${heightStyle}"
    role="img"
    aria-label="${pictureLabel}"
  >
    ${barElements}
  </svg>`;
  const tableRows = counts.map(({ name, count }) => [name, format(count)]);
  return figure({ ...options, rows: tableRows }, barPicture);
}
