import { toPrintable, truncateCharacters } from "evaluator-cli-kit";
import { barList, bars, cells, html, type Html, plot, points } from "evaluator-page-kit";
import { printCount } from "../amounts.ts";
import type { Sections } from "./sections.ts";
import type { Tally } from "./tally.ts";

const SENDERS = 15;
const LABEL_LENGTH = 30;
/** As many dots as can be told apart, and a browser draws at once. */
const DOTS = 2000;
/** So many columns and rows are counted where there are more. */
const CELLS = { columns: 48, rows: 20 };
const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;
const dayNames = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  timeZone: "UTC",
});
const months = new Intl.DateTimeFormat("en-GB", {
  month: "short",
  year: "numeric",
  timeZone: "UTC",
});

/** What the numbers of a page are about. */
export interface NumberParts {
  readonly sections: Sections;
  readonly tally: Tally;
  /** What all runs came to. */
  readonly figures: readonly (readonly [name: string, value: string])[];
}

/** Returns the part of a page with what all runs came to, and a plot or two of each question. */
export function numbersSection({ tally, sections, figures }: NumberParts): Html {
  const { questions } = sections;
  const plots = questions.flatMap(({ title, type, names }, at) => {
    const values = tally.values[at] ?? [];
    if (type === "choice") return [figure(title, "mails by option", choicePlot(values, names))];
    if (type === "boolean") {
      return [figure(title, "mails by probability", probabilityPlot(values))];
    }
    const highest = names.length - 1;
    return [
      figure(title, "mails by mean level", scorePlot(values, highest)),
      figure(
        `${title} over time`,
        "mails by day",
        timePlot(title, { values, days: tally.days, highest }),
      ),
    ];
  });
  const senders = figure("Top senders", "mails by address", sendersPlot(tally.senders));
  return html`<section class="numbers" id="numbers">
    <h2>In numbers</h2>
    <dl class="figures">
      ${figures.map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${toPrintable(value)}</dd>
          </div>`,
      )}
    </dl>
    <div class="plots">${tally.added + tally.days.length === 0 ? null : [...plots, senders]}</div>
  </section>`;
}

function figure(title: string, about: string, plot: Html): Html {
  return html`<figure>
    <figcaption>${title}<small>${about}</small></figcaption>
    ${plot}
  </figure>`;
}

/** Returns a plot of how many mails have which mean level, up to the highest there is. */
function scorePlot(values: readonly number[], highest: number): Html {
  return histogram(values, { step: 0.1, label: "mean level", end: Math.max(1, highest) });
}

/** Returns a plot of how many mails have which probability. */
function probabilityPlot(values: readonly number[]): Html {
  return histogram(values, { step: 0.05, label: "probability of yes", end: 1 });
}

/** Returns how many mails have which option, as bars. */
function choicePlot(values: readonly number[], names: readonly string[]): Html {
  const counts = new Map(names.map((name) => [name, 0]));
  for (const value of values) {
    const name = names[value] ?? "";
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return listOf([...counts].filter(([, count]) => count > 0));
}

/** Returns who sent the most mails, as bars. */
function sendersPlot(senders: ReadonlyMap<string, number>): Html {
  return listOf([...senders].map(([sender, count]) => [sender || "(no sender)", count]));
}

/** Returns a plot of the mean level of each mail over its day; of very many, how many are where. */
function timePlot(
  title: string,
  {
    values,
    days,
    highest,
  }: { values: readonly number[]; days: readonly number[]; highest: number },
): Html {
  const found = values
    .map((y, at) => ({ x: days[at] ?? Number.NaN, y }))
    .filter(({ x }) => !Number.isNaN(x));
  if (found.length === 0) return nothing;
  const [first, last] = found.reduce(
    ([first, last], { x }) => [Math.min(first, x), Math.max(last, x)] as const,
    [Infinity, -Infinity] as const,
  );
  const room = Math.max(DAY_MS, (last - first) / 40);
  const domain = [first - room, last + room] as const;
  const names = last - first > YEAR_MS ? months : dayNames;
  const format = (time: number) => names.format(time);
  const x = { domain, label: "", ticks: 3, isTime: true, format } as const;
  const top = Math.max(1, highest);
  // Half a dot of room above the highest level.
  const y = { domain: [0, top * 1.03], label: "mean level", ticks: Math.min(top, 8) } as const;
  return plot({ title: `${title} over time`, x, y }, (scales) =>
    found.length > DOTS ? cells(cellsOf(found, x.domain, y.domain), scales) : points(found, scales),
  );
}

const nothing = html`<p>No answers.</p>`;

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

function listOf(all: readonly (readonly [string, number])[]): Html {
  const counts = all
    .map(([name, count]) => ({ name: toLabel(name), count }))
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
