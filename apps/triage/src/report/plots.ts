import { toPrintable, truncateCharacters } from "evaluator-kit";
import { barPlot, histogram, html, type Html, plot, points } from "evaluator-kit/page";
import { printCount, printCounted } from "evaluator-runs/source";
import type { MailList } from "./mail-list.ts";
import type { ShownQuestion } from "./mail-row.ts";

const OPTIONS = 15;
const LABEL_LENGTH = 30;
/** More dots overlap, and a browser draws them slowly. */
const DOTS = 2000;
const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;

/** Returns a plot or two of each question. */
export function numbersSection(list: MailList, questions: readonly ShownQuestion[]): Html {
  const plots = questions.flatMap((question, at) => {
    const { title, form, names } = question;
    const counts = list.values[at] ?? new Map<number, number>();
    if (form === "option") {
      const mails = names.map((name, option) => [name, counts.get(option) ?? 0] as const);
      return [countList(title, mails)];
    }
    if (form === "probability") {
      return [mailsByValue(title, counts, { step: 0.05, label: "probability of yes", end: 1 })];
    }
    const end = Math.max(1, names.length - 1);
    const dots = { levels: list.levels[at] ?? [], days: list.days };
    return [
      mailsByValue(title, counts, { step: 0.1, label: "mean level", end }),
      timePlot(question, dots),
    ];
  });
  const cards = plots.map((plot) => html`<div class="card">${plot}</div>`);
  return html`<section class="part" id="numbers">
    <h2>In numbers</h2>
    <div class="columns">${list.added + list.days.length === 0 ? null : cards}</div>
  </section>`;
}

type Dots = Readonly<Record<"levels" | "days", readonly number[]>>;

function describeDots(mails: number): string {
  return mails <= DOTS
    ? "mails by day"
    : `${printCount(DOTS)} of ${printCounted(mails, "mail")} by day`;
}

/** Returns a plot of the mean level of each mail by day; of too many mails, of some at equal steps. */
function timePlot({ title, names }: ShownQuestion, dots: Dots): Html {
  const { levels, days } = dots;
  const sortedDays = new Float64Array(days).toSorted();
  const [first, last] = [sortedDays[0], sortedDays.at(-1)];
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
  const shownDots = Array.from({ length: Math.min(days.length, DOTS) }, (_, dot) => {
    const at = Math.floor(dot * step);
    const [x, y] = [days[at] ?? 0, levels[at] ?? 0];
    const day = new Date(x).toISOString().slice(0, 10);
    return { x, y, day, title: `${day}: ${y.toFixed(2)}` };
  });
  const options = {
    title: `${title} over time`,
    about: describeDots(days.length),
    x,
    y,
    head: ["day", "mean level"],
    rows: shownDots.map((dot) => [dot.day, dot.y.toFixed(2)]),
  };
  return plot(options, (scales) => points(shownDots, scales));
}

const nothing = html`<p>No answers.</p>`;

/** Returns how many mails have which value; the highest possible one, `end`, has its own bar. */
function mailsByValue(
  title: string,
  counts: ReadonlyMap<number, number>,
  { step, label, end }: { readonly step: number; readonly label: string; readonly end: number },
): Html {
  if (counts.size === 0) return nothing;
  return histogram(counts, {
    title,
    about: label === "mean level" ? "mails by mean level" : "mails by probability",
    name: `${title}: mails by ${label}`,
    x: { domain: [0, end + step], label },
    step,
    counted: "mails",
    height: 220,
  });
}

function countList(title: string, all: readonly (readonly [name: string, count: number])[]): Html {
  const counts = all
    .filter(([, count]) => count > 0)
    .map(([name, count]) => ({ name: toLabel(name), count }))
    .toSorted((one, other) => other.count - one.count);
  const options = { title, about: "mails by option", head: [title, "mails"] };
  return counts.length === 0 ? nothing : barPlot(counts.slice(0, OPTIONS), options, printCount);
}

/** Returns a name that has room. */
export function toLabel(text: string, length = LABEL_LENGTH): string {
  const plain = toPrintable(text);
  const cut = truncateCharacters(plain, length);
  return cut === plain ? plain : `${cut}…`;
}
