import { toPrintable, truncateCharacters } from "evaluator-kit";
import { barPlot, histogram, html, type Html, plot, points } from "evaluator-kit/page";
import { printCount, printCounted } from "evaluator-runs/source";
import type { MailList } from "./mail-list.ts";
import type { ShownQuestion } from "./mail-row.ts";

const OPTIONS = 15;
const LABEL_LENGTH = 30;
/** More dots overlap, and a browser draws them slowly. */
const MOST_DOTS = 2000;
const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;

/** Returns a plot or two of each question. */
export function numbersSection(mailList: MailList, questions: readonly ShownQuestion[]): Html {
  const questionPlots = questions.flatMap((question, questionIndex) => {
    const { title, form, names } = question;
    const valueCounts = mailList.values[questionIndex] ?? new Map<number, number>();
    if (form === "option") {
      const optionMails = names.map(
        (optionName, optionIndex) => [optionName, valueCounts.get(optionIndex) ?? 0] as const,
      );
      return [countList(title, optionMails)];
    }
    if (form === "probability") {
      return [
        mailsByValue(title, valueCounts, { step: 0.05, label: "probability of yes", end: 1 }),
      ];
    }
    const scaleEnd = Math.max(1, names.length - 1);
    const timeDots = { levels: mailList.levels[questionIndex] ?? [], days: mailList.days };
    return [
      mailsByValue(title, valueCounts, { step: 0.1, label: "mean level", end: scaleEnd }),
      timePlot(question, timeDots),
    ];
  });
  const plotCards = questionPlots.map(
    (questionPlot) => html`<div class="card">${questionPlot}</div>`,
  );
  return html`<section class="part" id="numbers">
    <h2>In numbers</h2>
    <div class="columns">${mailList.added + mailList.days.length === 0 ? null : plotCards}</div>
  </section>`;
}

type Dots = Readonly<Record<"levels" | "days", readonly number[]>>;

function describeDots(mailCount: number): string {
  return mailCount <= MOST_DOTS
    ? "mails by day"
    : `${printCount(MOST_DOTS)} of ${printCounted(mailCount, "mail")} by day`;
}

/** Returns a plot of the mean level of each mail by day; of too many mails, of some at equal steps. */
function timePlot({ title, names }: ShownQuestion, timeDots: Dots): Html {
  const { levels, days } = timeDots;
  const sortedDays = new Float64Array(days).toSorted();
  const [firstDay, lastDay] = [sortedDays[0], sortedDays.at(-1)];
  if (firstDay === undefined || lastDay === undefined) return nothing;
  const spareRoom = Math.max(DAY_MS, (lastDay - firstDay) / 40);
  const dateUnit = lastDay - firstDay > YEAR_MS ? "year" : "day";
  const dateOptions = { [dateUnit]: "numeric", month: "short", timeZone: "UTC" } as const;
  const dateFormat = new Intl.DateTimeFormat("en-GB", dateOptions);
  const topLevel = Math.max(1, names.length - 1);
  const x = {
    domain: [firstDay - spareRoom, lastDay + spareRoom],
    label: "",
    ticks: 3,
    isTime: true,
    format: (time: number) => dateFormat.format(time),
  } as const;
  // Half a dot of room above the highest level.
  const y = {
    domain: [0, topLevel * 1.03],
    label: "mean level",
    ticks: Math.min(topLevel, 8),
  } as const;
  const dotStep = Math.max(1, days.length / MOST_DOTS);
  const shownDots = Array.from({ length: Math.min(days.length, MOST_DOTS) }, (_, dotIndex) => {
    const position = Math.floor(dotIndex * dotStep);
    const [x, y] = [days[position] ?? 0, levels[position] ?? 0];
    const dayText = new Date(x).toISOString().slice(0, 10);
    return { x, y, day: dayText, title: `${dayText}: ${y.toFixed(2)}` };
  });
  const options = {
    title: `${title} over time`,
    about: describeDots(days.length),
    x,
    y,
    head: ["day", "mean level"],
    rows: shownDots.map((shownDot) => [shownDot.day, shownDot.y.toFixed(2)]),
  };
  return plot(options, (plotScales) => points(shownDots, plotScales));
}

const nothing = html`<p>No answers.</p>`;

/** Returns how many mails have which value; the highest possible one, `end`, has its own bar. */
function mailsByValue(
  title: string,
  valueCounts: ReadonlyMap<number, number>,
  { step, label, end }: { readonly step: number; readonly label: string; readonly end: number },
): Html {
  if (valueCounts.size === 0) return nothing;
  return histogram(valueCounts, {
    title,
    about: label === "mean level" ? "mails by mean level" : "mails by probability",
    name: `${title}: mails by ${label}`,
    x: { domain: [0, end + step], label },
    step,
    counted: "mails",
    height: 220,
  });
}

function countList(
  title: string,
  optionCounts: readonly (readonly [name: string, count: number])[],
): Html {
  const shownCounts = optionCounts
    .filter(([, mailCount]) => mailCount > 0)
    .map(([optionName, mailCount]) => ({ name: toLabel(optionName), count: mailCount }))
    .toSorted((firstOption, secondOption) => secondOption.count - firstOption.count);
  const options = { title, about: "mails by option", head: [title, "mails"] };
  return shownCounts.length === 0
    ? nothing
    : barPlot(shownCounts.slice(0, OPTIONS), options, printCount);
}

/** Returns a name that has room. */
export function toLabel(labelText: string, length = LABEL_LENGTH): string {
  const plainText = toPrintable(labelText);
  const shortText = truncateCharacters(plainText, length);
  return shortText === plainText ? plainText : `${shortText}…`;
}
