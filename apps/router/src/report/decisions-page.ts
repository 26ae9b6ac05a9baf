import { stat } from "node:fs/promises";
import { barList, html, type Html, page, table } from "evaluator-kit/page";
import { tierNames } from "../decision/tier-question.ts";
import { costsOf, type LoggedRecord, readRecords } from "./read-records.ts";
import { dollars, savingOf, summarize, type Summary } from "./summary.ts";

/** The further style of the decisions page and the evaluation page. */
export const pageStyle = `
main { display: grid; gap: 1.25rem; margin-top: 1.25rem; }
main > * { min-width: 0; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.05rem; margin-bottom: 0.5rem; }
.notice { margin-top: 0.35rem; color: var(--quiet); }
`;

/** Returns a card of either page, with a notice below its content. */
export function card(title: string, content: Html, notice?: string): Html {
  return html`<section class="card">
    <h2>${title}</h2>
    ${content} ${notice === undefined ? null : html`<p class="notice">${notice}</p>`}
  </section>`;
}

/** The size of the read part at the log's end: about a hundred thousand messages. */
const MOST_BYTES = 64 * 1024 * 1024;

const MOST_DAYS = 31;

/** Draws the end of a decision log as a page. @throws CliError if the log cannot be read. */
export async function decisionsPage(path: string): Promise<string> {
  const { size } = await stat(path).catch(() => ({ size: 0 }));
  const start = Math.max(0, size - MOST_BYTES);
  const read: (LoggedRecord | null)[] = [];
  for await (const record of readRecords(path, start)) read.push(record);
  const summary = await summarize(read);
  const records = read.filter((record) => record !== null);
  const days = [...Map.groupBy(records, ({ time }) => time.slice(0, 10))];
  const latest = days.toSorted(([one], [other]) => (one < other ? 1 : -1)).slice(0, MOST_DAYS);
  const head = ["day", "messages", ...tierNames, "failed", "in doubt", "paid", "frontier only"];
  const times = [
    ["decision", ...quantiles(records.flatMap(({ decisionMs }) => decisionMs ?? []))],
    ["reply", ...quantiles(records.flatMap(({ replyMs }) => replyMs ?? []))],
  ];
  const tiers = Array.from(summary.tiers, ([name, count]) => ({ name, count }));
  const title = "What was decided";
  const body = html`<header>
      <p><a href="/">Back to the router</a></p>
      <h1>${title}</h1>
      <p class="notice">
        ${summary.messages}
        messages${start > 0 ? ", the log's latest" : ""}${describeSaving(summary)}.
      </p>
    </header>
    <main>
      ${card("Tiers used", barList(tiers))} ${card("By day (UTC)", table(head, latest.map(dayRow)))}
      ${card("Times", table(["part", "half within", "95 % within"], times))}
    </main>`;
  return page({ title, style, body });
}

function describeSaving(summary: Summary): string {
  if (summary.compared === 0) return "";
  const { savedUsd, share } = savingOf(summary);
  return `; saved against frontier only, net of the decisions: ${dollars.format(savedUsd)} (${Math.round(100 * (share ?? 0))}%)`;
}

function dayRow([day, records]: [string, LoggedRecord[]]): string[] {
  const count = (isCounted: (record: LoggedRecord) => boolean) =>
    records.filter(isCounted).length.toLocaleString("en");
  const costs = records.map(costsOf);
  return [
    day,
    count(() => true),
    ...tierNames.map((tier) => count(({ tierUsed }) => tierUsed === tier)),
    count(({ outcome }) => outcome === "no-decision" || outcome === "reply-failed"),
    count(isDoubtful),
    total(costs.flatMap(({ decision, reply }) => [...decision, ...reply])),
    total(costs.flatMap(({ frontier }) => frontier)),
  ];
}

/** Returns the sum of the known costs, and whether there are others. */
function total(costs: readonly (number | null)[]): string {
  const known = costs.filter((cost) => cost !== null);
  if (known.length === 0 && costs.length > 0) return "unknown";
  const sum = dollars.format(known.reduce((all, cost) => all + cost, 0));
  return known.length === costs.length ? sum : `${sum} and unknown`;
}

/** Below this confidence a choice is in doubt. Chosen, as on the page of the router. */
const LOW_CONFIDENCE = 0.5;

function isDoubtful({ cause, confidence }: LoggedRecord): boolean {
  return cause === "low-confidence" || (confidence ?? 1) < LOW_CONFIDENCE;
}

function quantiles(values: readonly number[]): [string, string] {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (share: number) => {
    const value = sorted[Math.ceil(share * sorted.length) - 1];
    return value === undefined ? "–" : `${value.toLocaleString("en")} ms`;
  };
  return [at(0.5), at(0.95)];
}

const style = `${pageStyle}
a { color: var(--accent); }
h1 { margin-top: 0.5rem; }
`;
