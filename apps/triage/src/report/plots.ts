import { toPrintable, truncateCharacters } from "evaluator-kit";
import { barList, bars, html, type Html, plot, points } from "evaluator-kit/page";
import { printCount, printMails } from "evaluator-runs/source";
import { addTo, type MailList } from "./mail-list.ts";
import type { ShownQuestion } from "./mail-row.ts";

const OPTIONS = 15;
const LABEL_LENGTH = 30;
/** More dots overlap, and a browser draws them slowly. */
const DOTS = 2000;
const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;

/** Returns the totals of all runs, and a plot or two of each question. */
export function numbersSection(
  list: MailList,
  questions: readonly ShownQuestion[],
  figures: readonly (readonly [name: string, value: string])[],
): Html {
  const plots = questions.flatMap((question, at) => {
    const { title, form, names } = question;
    const counts = list.values[at] ?? new Map<number, number>();
    if (form === "option") {
      const mails = names.map((name, option) => [name, counts.get(option) ?? 0] as const);
      const used = mails.filter(([, count]) => count > 0);
      return [figure(title, "mails by option", countList(used))];
    }
    if (form === "probability") {
      const options = { step: 0.05, label: "probability of yes", end: 1 };
      return [figure(title, "mails by probability", histogram(counts, options))];
    }
    const options = { step: 0.1, label: "mean level", end: Math.max(1, names.length - 1) };
    const dots = { levels: list.levels[at] ?? [], days: list.days };
    return [
      figure(title, "mails by mean level", histogram(counts, options)),
      figure(`${title} over time`, describeDots(dots.days.length), timePlot(question, dots)),
    ];
  });
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
    <div class="plots">${list.added + list.days.length === 0 ? null : plots}</div>
  </section>`;
}

function figure(title: string, about: string, plot: Html): Html {
  return html`<figure>
    <figcaption>${title}<small>${about}</small></figcaption>
    ${plot}
  </figure>`;
}

/** The dots of a plot over time: the level and the day of each mail. */
type Dots = Readonly<Record<"levels" | "days", readonly number[]>>;

function describeDots(mails: number): string {
  return mails <= DOTS ? "mails by day" : `${printCount(DOTS)} of ${printMails(mails)} by day`;
}

/** Returns a plot of the mean level of each mail by day; of too many mails, of some at equal steps. */
function timePlot({ title, names }: ShownQuestion, dots: Dots): Html {
  const { levels, days } = dots;
  const sorted = new Float64Array(days).toSorted();
  const [first, last] = [sorted[0], sorted.at(-1)];
  if (first === undefined || last === undefined) return nothing;
  const room = Math.max(DAY_MS, (last - first) / 40);
  const part = last - first > YEAR_MS ? "year" : "day";
  const form = { [part]: "numeric", month: "short", timeZone: "UTC" } as const;
  const dates = new Intl.DateTimeFormat("en-GB", form);
  const top = Math.max(1, names.length - 1);
  const x = {
    domain: [first - room, last + room],
    label: "",
    ticks: 3,
    isTime: true,
    format: (time: number) => dates.format(time),
  } as const;
  // Half a dot of room above the highest level.
  const y = { domain: [0, top * 1.03], label: "mean level", ticks: Math.min(top, 8) } as const;
  const step = Math.max(1, days.length / DOTS);
  const shown = Array.from({ length: Math.min(days.length, DOTS) }, (_, dot) => {
    const at = Math.floor(dot * step);
    return { x: days[at] ?? 0, y: levels[at] ?? 0 };
  });
  return plot({ title: `${title} over time`, x, y }, (scales) => points(shown, scales));
}

const nothing = html`<p>No answers.</p>`;

/** Returns the counts in bars of a width; the highest possible value, `end`, has its own bar. */
function histogram(
  counts: ReadonlyMap<number, number>,
  { step, label, end }: { readonly step: number; readonly label: string; readonly end: number },
): Html {
  if (counts.size === 0) return nothing;
  const bins = new Map<number, number>();
  // By floating-point error a value may be just below its bar.
  for (const [value, count] of counts) addTo(bins, Math.floor(value / step + 1e-9), count);
  const all = [...bins].map(([bin, count]) => {
    return { from: bin * step, to: (bin + 1) * step, count };
  });
  const most = Math.max(...bins.values());
  const x = { domain: [0, end + step], label } as const;
  const ticks = Math.min(5, most);
  const y = { domain: [0, most], label: "mails", ticks, format: printCount } as const;
  return plot({ title: `mails by ${label}`, x, y, height: 220 }, (scales) => bars(all, scales));
}

function countList(all: readonly (readonly [name: string, count: number])[]): Html {
  const counts = all
    .map(([name, count]) => ({ name: toLabel(name), count }))
    .toSorted((one, other) => other.count - one.count);
  return counts.length === 0 ? nothing : barList(counts.slice(0, OPTIONS), printCount);
}

function toLabel(text: string): string {
  const plain = toPrintable(text);
  const cut = truncateCharacters(plain, LABEL_LENGTH);
  return cut === plain ? plain : `${cut}…`;
}
