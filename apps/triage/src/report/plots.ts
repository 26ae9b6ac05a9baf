import { toPrintable, truncateCharacters } from "evaluator-cli-kit";
import { barList, bars, cells, html, type Html, plot, points } from "evaluator-page-kit";
import { printCount } from "../amounts.ts";
import { senderAddress } from "../input/mail.ts";
import type { TriageRecord } from "../output/write-records.ts";

const SENDERS = 15;
const LABEL_LENGTH = 30;
/** As many dots as can be told apart, and a browser draws at once. */
const DOTS = 2000;
/** So many columns and rows are counted where there are more. */
const CELLS = { columns: 48, rows: 20 };
const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;
const days = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  timeZone: "UTC",
});
const months = new Intl.DateTimeFormat("en-GB", {
  month: "short",
  year: "numeric",
  timeZone: "UTC",
});

/** Returns a plot of how many mails have which mean level. */
export function scorePlot(records: readonly TriageRecord[], field: string): Html {
  const values = valuesOf(records, field).map(({ value }) => value);
  return histogram(values, { step: 0.1, label: "mean level", end: highestLevel(values) });
}

/** Returns a plot of how many mails have which probability. */
export function probabilityPlot(records: readonly TriageRecord[], field: string): Html {
  const values = valuesOf(records, field).map(({ value }) => value);
  return histogram(values, { step: 0.05, label: "probability of yes", end: 1 });
}

/** Returns how many mails have which option, as bars. */
export function choicePlot(records: readonly TriageRecord[], field: string): Html {
  const names = records.map((record) => record[field]).filter((name) => typeof name === "string");
  return countsOf(names.map(toLabel));
}

/** Returns who sent the most mails, as bars. */
export function sendersPlot(records: readonly TriageRecord[]): Html {
  return countsOf(records.map(({ from }) => toLabel(senderAddress(from) ?? from) || "(no sender)"));
}

/** Returns a plot of the mean level of each mail over its day; of very many, how many are where. */
export function timePlot(records: readonly TriageRecord[], field: string): Html {
  const found = valuesOf(records, field)
    .map(({ record, value }) => ({ x: Date.parse(record.date), y: value }))
    .filter(({ x }) => !Number.isNaN(x));
  if (found.length === 0) return nothing;
  const [first, last] = found.reduce(
    ([first, last], { x }) => [Math.min(first, x), Math.max(last, x)] as const,
    [Infinity, -Infinity] as const,
  );
  const room = Math.max(DAY_MS, (last - first) / 40);
  const domain = [first - room, last + room] as const;
  const names = last - first > YEAR_MS ? months : days;
  const format = (time: number) => names.format(time);
  const x = { domain, label: "", ticks: 3, isTime: true, format } as const;
  const top = highestLevel(found.map(({ y }) => y));
  // Half a dot of room above the highest level.
  const y = { domain: [0, top * 1.03], label: "mean level", ticks: top } as const;
  return plot({ title: `${field} over time`, x, y }, (scales) =>
    found.length > DOTS ? cells(cellsOf(found, x.domain, y.domain), scales) : points(found, scales),
  );
}

const nothing = html`<p>No answers.</p>`;

interface NumberOfMail {
  readonly record: TriageRecord;
  readonly value: number;
}

function valuesOf(records: readonly TriageRecord[], field: string): NumberOfMail[] {
  return records.flatMap((record) => {
    const value = record[field];
    return typeof value === "number" ? [{ record, value }] : [];
  });
}

// Results do not say how many levels there are, so it is the highest that a mail reaches.
function highestLevel(values: readonly number[]): number {
  return Math.ceil(values.reduce((most, value) => Math.max(most, value), 1));
}

interface HistogramOptions {
  /** The width of a bar. */
  readonly step: number;
  readonly label: string;
  /** The highest value there can be; it has a bar of its own. */
  readonly end: number;
}

function histogram(values: readonly number[], { step, label, end }: HistogramOptions): Html {
  if (values.length === 0) return nothing;
  // A value that the decimals of the step cannot hold lies a little below its bar.
  const bins = Map.groupBy(values, (value) => Math.floor(value / step + 1e-9));
  const counts = [...bins].map(([bin, { length }]) => {
    return { from: bin * step, to: (bin + 1) * step, count: length };
  });
  const most = Math.max(...counts.map(({ count }) => count));
  const x = { domain: [0, end + step], label } as const;
  const y = { domain: [0, most], label: "mails", ticks: Math.min(5, most) } as const;
  return plot(
    { title: `mails by ${label}`, x, y: { ...y, format: printCount }, height: 220 },
    (scales) => bars(counts, scales),
  );
}

function countsOf(names: readonly string[]): Html {
  const counts = [...Map.groupBy(names, (name) => name)]
    .map(([name, same]) => ({ name, count: same.length }))
    .toSorted((one, other) => other.count - one.count);
  return counts.length === 0 ? nothing : barList(counts.slice(0, SENDERS), printCount);
}

function cellsOf(
  found: readonly { readonly x: number; readonly y: number }[],
  [left, right]: readonly [number, number],
  [bottom, top]: readonly [number, number],
) {
  const [width, height] = [(right - left) / CELLS.columns, (top - bottom) / CELLS.rows];
  const columnOf = (x: number) => Math.floor((x - left) / width);
  const rowOf = (y: number) => Math.floor((y - bottom) / height);
  const same = Map.groupBy(found, ({ x, y }) => columnOf(x) * CELLS.rows + rowOf(y));
  return [...same].map(([cell, { length }]) => {
    const [column, row] = [Math.floor(cell / CELLS.rows), cell % CELLS.rows];
    const from = { x: left + column * width, y: bottom + row * height };
    return { from, to: { x: from.x + width, y: from.y + height }, count: length };
  });
}

function toLabel(text: string): string {
  const plain = toPrintable(text);
  const cut = truncateCharacters(plain, LABEL_LENGTH);
  return cut === plain ? plain : `${cut}…`;
}
