import { stat } from "node:fs/promises";
import { barList, html, page, table } from "evaluator-kit/page";
import { noTiers, type Tier, tierNames } from "../decision/tier-question.ts";
import { type LoggedRecord, readRecords } from "./read-records.ts";
import { describeSummary, dollars, savingOf, summarize, type Summary } from "./summary.ts";

/** The further style of the decisions page and the evaluation page. */
export const pageStyle = `
main { display: grid; gap: 1.25rem; margin-top: 1.25rem; }
main > * { min-width: 0; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.05rem; margin-bottom: 0.5rem; }
.notice { margin-top: 0.35rem; color: var(--quiet); }
`;

/** The size of the read part at the log's end: about a hundred thousand messages. */
const MOST_BYTES = 64 * 1024 * 1024;

/** The most days in the table. */
const MOST_DAYS = 31;

type Day = ReturnType<typeof emptyDay>;

/** Draws the end of a decision log as a page. @throws CliError if the log cannot be read. */
export async function decisionsPage(path: string): Promise<string> {
  const { isCut, summary, days, decisionMs, replyMs } = await readLog(path);
  const title = "What was decided";
  const times = [
    ["decision", ...quantiles(decisionMs)],
    ["reply", ...quantiles(replyMs)],
  ];
  const body = html`<header>
      <p><a href="/">Back to the router</a></p>
      <h1>${title}</h1>
      <p class="notice">
        ${summary.messages} messages${isCut ? ", the log's latest" : ""}${describeSaving(summary)}.
      </p>
    </header>
    <main>
      <section class="card">
        <h2>Tiers used</h2>
        ${barList(tierNames.map((tier) => ({ name: tier, count: summary.tiers[tier] })))}
      </section>
      <section class="card">
        <h2>By day (UTC)</h2>
        ${dayTable(days.slice(0, MOST_DAYS))}
      </section>
      <section class="card">
        <h2>Times</h2>
        ${table(["part", "half within", "95 % within"], times)}
      </section>
      <section class="card">
        <h2>The report</h2>
        <div class="scroll" tabindex="0"><pre>${describeSummary(summary)}</pre></div>
      </section>
    </main>`;
  return page({ title, style, body });
}

async function readLog(path: string) {
  const { size } = await stat(path).catch(() => ({ size: 0 }));
  const start = Math.max(0, size - MOST_BYTES);
  const days = new Map<string, Day>();
  const [decisionMs, replyMs]: [number[], number[]] = [[], []];
  async function* counted(): AsyncGenerator<LoggedRecord | null> {
    for await (const record of readRecords(path, start)) {
      if (record !== null) {
        addToDay(days, record);
        if (record.decisionMs !== null) decisionMs.push(record.decisionMs);
        if (record.replyMs !== null) replyMs.push(record.replyMs);
      }
      yield record;
    }
  }
  const summary = await summarize(counted());
  const shown = [...days.values()].toSorted((one, other) => (one.day < other.day ? 1 : -1));
  return { isCut: start > 0, summary, days: shown, decisionMs, replyMs };
}

function describeSaving(summary: Summary): string {
  if (summary.compared === 0) return "";
  const { savedUsd, share } = savingOf(summary);
  return `; saved against frontier only, net of the decisions: ${dollars.format(savedUsd)} (${Math.round(100 * (share ?? 0))}%)`;
}

function emptyDay(day: string) {
  const counts = { messages: 0, failed: 0, doubtful: 0, paidUsd: 0, frontierUsd: 0 };
  return { day, tiers: { ...noTiers } as Record<Tier, number>, ...counts };
}

function addToDay(days: Map<string, Day>, record: LoggedRecord): void {
  const name = record.time.slice(0, 10);
  const day = days.get(name) ?? emptyDay(name);
  days.set(name, day);
  day.messages += 1;
  if (record.tierUsed !== null) day.tiers[record.tierUsed] += 1;
  if (record.outcome === "no-decision" || record.outcome === "reply-failed") day.failed += 1;
  if (isDoubtful(record)) day.doubtful += 1;
  day.paidUsd += (record.replyCostUsd ?? 0) + (record.decisionCostUsd ?? 0);
  day.frontierUsd += record.frontierCostUsd ?? 0;
}

/** Below this confidence a choice is in doubt. Chosen, as on the page of the router. */
const LOW_CONFIDENCE = 0.5;

function isDoubtful({ cause, confidence }: LoggedRecord): boolean {
  return cause === "tie" || cause === "low-confidence" || (confidence ?? 1) < LOW_CONFIDENCE;
}

function dayTable(days: readonly Day[]) {
  const head = ["day", "messages", ...tierNames, "failed", "in doubt", "paid", "frontier only"];
  const rows = days.map((day) => [
    day.day,
    ...[day.messages, ...tierNames.map((tier) => day.tiers[tier]), day.failed, day.doubtful].map(
      (count) => count.toLocaleString("en"),
    ),
    dollars.format(day.paidUsd),
    dollars.format(day.frontierUsd),
  ]);
  return table(head, rows);
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
pre { margin: 0; font-size: 0.85rem; }
`;
