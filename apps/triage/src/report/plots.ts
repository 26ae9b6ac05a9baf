import { toPrintable, truncateCharacters } from "evaluator-kit";
import { barList, bars, cells, html, type Html, plot, points } from "evaluator-kit/page";
import { printCount } from "evaluator-runs/source";
import { addTo, type MailList, type Tally } from "./mail-list.ts";
import type { Sections } from "./sections.ts";

const SENDERS = 15;
const LABEL_LENGTH = 30;
/** More dots overlap, and a browser draws them slowly. */
const DOTS = 2000;
/** The columns and rows of the counts that replace more dots. */
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

/** The source of the numbers of a page. */
interface NumberParts {
  readonly list: MailList;
  readonly sections: Sections;
  readonly tally: Tally;
  /** The totals of all runs. */
  readonly figures: readonly (readonly [name: string, value: string])[];
}

/** Returns the totals of all runs, and a plot or two of each question. */
export function numbersSection({ list, tally, sections, figures }: NumberParts): Html {
  const { questions } = sections;
  const plots = questions.flatMap(({ title, form, names }, at) => {
    const counts = tally.counts[at] ?? new Map<number, number>();
    if (form === "option") return [figure(title, "mails by option", choicePlot(counts, names))];
    if (form === "probability") {
      const options = { step: 0.05, label: "probability of yes", end: 1 };
      return [figure(title, "mails by probability", histogram(counts, options))];
    }
    const highest = names.length - 1;
    const options = { step: 0.1, label: "mean level", end: Math.max(1, highest) };
    const over = { levels: tally.levels.get(at) ?? [], days: tally.days, highest };
    return [
      figure(title, "mails by mean level", histogram(counts, options)),
      figure(`${title} over time`, "mails by day", timePlot(title, over)),
    ];
  });
  const senders = figure("Top senders", "mails by address", sendersPlot(list));
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

type Counts = ReadonlyMap<number, number>;

function choicePlot(counts: Counts, names: readonly string[]): Html {
  const all = names.map((name, option) => [name, counts.get(option) ?? 0] as const);
  return listOf(all.filter(([, count]) => count > 0));
}

function sendersPlot(list: MailList): Html {
  return listOf(list.senders(SENDERS).map(([sender, count]) => [sender || "(no sender)", count]));
}

/** Returns a plot of the mean level of each mail by day; counts per cell if there are too many dots. */
function timePlot(
  title: string,
  {
    levels,
    days,
    highest,
  }: { levels: readonly number[]; days: readonly number[]; highest: number },
): Html {
  if (days.length === 0) return nothing;
  const [first, last] = days.reduce(
    ([first, last], x) => [Math.min(first, x), Math.max(last, x)] as const,
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
    days.length > DOTS
      ? cells(cellsOf({ levels, days }, x.domain, y.domain), scales)
      : points(
          days.map((x, at) => ({ x, y: levels[at] ?? 0 })),
          scales,
        ),
  );
}

const nothing = html`<p>No answers.</p>`;

interface HistogramOptions {
  /** The width of a bar. */
  readonly step: number;
  readonly label: string;
  /** The highest possible value; it has its own bar. */
  readonly end: number;
}

function histogram(counts: Counts, { step, label, end }: HistogramOptions): Html {
  if (counts.size === 0) return nothing;
  const bins = new Map<number, number>();
  // By floating-point error a value may be just below its bar.
  for (const [value, count] of counts) addTo(bins, Math.floor(value / step + 1e-9), count);
  const all = [...bins].map(([bin, count]) => {
    return { from: bin * step, to: (bin + 1) * step, count };
  });
  const most = Math.max(...bins.values());
  const x = { domain: [0, end + step], label } as const;
  const y = { domain: [0, most], label: "mails", ticks: Math.min(5, most) } as const;
  return plot(
    { title: `mails by ${label}`, x, y: { ...y, format: printCount }, height: 220 },
    (scales) => bars(all, scales),
  );
}

function listOf(all: readonly (readonly [string, number])[]): Html {
  const counts = all
    .map(([name, count]) => ({ name: toLabel(name), count }))
    .toSorted((one, other) => other.count - one.count);
  return counts.length === 0 ? nothing : barList(counts.slice(0, SENDERS), printCount);
}

function cellsOf(
  { levels, days }: { levels: readonly number[]; days: readonly number[] },
  [left, right]: readonly [number, number],
  [bottom, top]: readonly [number, number],
) {
  const [width, height] = [(right - left) / CELLS.columns, (top - bottom) / CELLS.rows];
  const columnOf = (x: number) => Math.floor((x - left) / width);
  const rowOf = (y: number) => Math.floor((y - bottom) / height);
  const counts = new Map<number, number>();
  for (const [at, x] of days.entries()) {
    addTo(counts, columnOf(x) * CELLS.rows + rowOf(levels[at] ?? 0));
  }
  return [...counts].map(([cell, count]) => {
    const [column, row] = [Math.floor(cell / CELLS.rows), cell % CELLS.rows];
    const from = { x: left + column * width, y: bottom + row * height };
    return { from, to: { x: from.x + width, y: from.y + height }, count };
  });
}

function toLabel(text: string): string {
  const plain = toPrintable(text);
  const cut = truncateCharacters(plain, LABEL_LENGTH);
  return cut === plain ? plain : `${cut}…`;
}
