import * as Plot from "@observablehq/plot";
import { toPrintable, truncateCharacters } from "evaluator-cli-kit";
import { parseHTML } from "linkedom";
import { senderAddress } from "../input/sender-address.ts";
import type { TriageRecord } from "../output/write-records.ts";

const SENDERS = 15;
const LABEL_LENGTH = 30;
/** As many dots as can be told apart, and a browser draws at once. */
const DOTS = 2000;
const { document } = parseHTML("<!doctype html><html><body></body></html>");
const look = { document, width: 600, height: 240, marginLeft: 48, marginBottom: 36, marginTop: 24 };
// Of the page's style, so that a plot is light or dark with it.
const colour = "var(--accent)";
const grid = { grid: true, ticks: 5 };

/** Draws how many mails have which mean level. */
export function scorePlot(records: readonly TriageRecord[], field: string): string {
  const domain = levelsOf(records, field);
  return histogram(records, field, { step: 0.1, label: "mean level", domain });
}

/** Draws how many mails have which probability. */
export function probabilityPlot(records: readonly TriageRecord[], field: string): string {
  return histogram(records, field, { step: 0.05, label: "probability of yes", domain: [0, 1] });
}

/** Draws how many mails have which option. */
export function choicePlot(records: readonly TriageRecord[], field: string): string {
  const names = records.map((record) => record[field]).filter((name) => typeof name === "string");
  return countsPlot(names.map(toLabel));
}

/** Draws who sent the most mails. */
export function sendersPlot(records: readonly TriageRecord[]): string {
  return countsPlot(
    records.map(({ from }) => toLabel(senderAddress(from) ?? from) || "(no sender)"),
  );
}

/** Draws the mean level of each mail over its day; of very many mails, how many are where. */
export function timePlot(records: readonly TriageRecord[], field: string): string {
  const shown = numbers(records, field);
  const place = { x: toDay, y: field, fill: colour };
  const mark =
    shown.length > DOTS
      ? Plot.rect(shown, Plot.bin({ fillOpacity: "count" }, { ...place, thresholds: 40 }))
      : Plot.dot(shown, { ...place, r: 3.5, fillOpacity: 0.6 });
  const y = { ...grid, label: "mean level", domain: levelsOf(records, field) };
  const x = { label: null, type: "utc", ticks: 6, inset: 6 } as const;
  return draw({ ...look, height: 360, x, y, marks: [Plot.ruleY([0]), mark] });
}

/** From no level to the highest that a mail reaches; results do not say how many there are. */
function levelsOf(records: readonly TriageRecord[], field: string): [number, number] {
  const highest = numbers(records, field).reduce(
    (most, record) => Math.max(most, Number(record[field])),
    1,
  );
  return [0, Math.ceil(highest)];
}

interface HistogramOptions {
  /** The width of a bar. */
  readonly step: number;
  readonly label: string;
  readonly domain: readonly [number, number];
}

function toDay({ date }: TriageRecord): Date {
  return new Date(date);
}

function toLabel(text: string): string {
  const plain = toPrintable(text);
  const cut = truncateCharacters(plain, LABEL_LENGTH);
  return cut === plain ? plain : `${cut}…`;
}

function histogram(
  records: readonly TriageRecord[],
  field: string,
  { step, label, domain: [start, end] }: HistogramOptions,
): string {
  // The highest value has a bar of its own.
  const x = { label, domain: [start, end + step] };
  const options = { x: field, interval: step, fill: colour, inset: 0.75, rx: 1.5 };
  const bars = Plot.rectY(numbers(records, field), Plot.binX({ y: "count" }, options));
  const y = { ...grid, label: "mails", tickFormat: "d" };
  return draw({ ...look, x, y, marks: [bars, Plot.ruleY([0])] });
}

function countsPlot(names: readonly string[]): string {
  const counts = [...Map.groupBy(names, (name) => name)]
    .map(([name, same]) => ({ name, count: same.length }))
    .toSorted((one, other) => other.count - one.count)
    .slice(0, SENDERS);
  const place = { x: "count", y: "name" };
  const bars = Plot.barX(counts, { ...place, fill: colour, sort: { y: "-x" }, rx: 2 });
  const labels = Plot.text(counts, { ...place, text: "count", dx: 6, textAnchor: "start" });
  const height = 16 + 26 * counts.length;
  const axes = { x: { axis: null, insetRight: 64 }, y: { label: null, tickSize: 0 } } as const;
  const frame = { height, marginLeft: 235, marginTop: 4, marginBottom: 12 };
  return draw({
    ...look,
    ...axes,
    ...frame,
    marks: [bars, labels],
  });
}

function numbers(records: readonly TriageRecord[], field: string): TriageRecord[] {
  return records.filter((record) => typeof record[field] === "number");
}

function draw(options: Plot.PlotOptions): string {
  return Plot.plot({ ...options, style: { fontSize: "12px" } }).outerHTML;
}
