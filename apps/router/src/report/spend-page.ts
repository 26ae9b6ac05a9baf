import { html, type Html, table } from "evaluator-kit/page";
import { tierNames } from "../decision/tier-question.ts";
import { addressOf, type MessageFilter, messageFilter, visitLatest } from "./latest-messages.ts";
import { blindRecordOf, type LoggedRecord, recordOf } from "./read-records.ts";
import { isOfEmulator, reportPage, tierBadge } from "./report-page.ts";
import { addTo, dollars, emptySummary, savingOf, type Summary } from "./summary.ts";

const nameOf = {
  day: ({ time }: LoggedRecord) => time.slice(0, 10),
  tier: ({ tierUsed }: LoggedRecord) => tierUsed ?? "none",
  key: ({ key }: LoggedRecord) => key ?? "none",
};

/** The part of the log that one request sums up: about forty thousand messages, in half a second. */
const MOST_BYTES = 32 * 1024 * 1024;

/** Draws the totals by day, tier and key of the latest wanted messages. */
export async function spendPage(path: string, filter: MessageFilter): Promise<string> {
  const groups = Object.entries(nameOf).map(([name, of]) => ({ name, of, sums: new Sums() }));
  const all = new Sums();
  let isEmulated = false;
  const wantedOf = messageFilter(filter, (line) => recordOf(line) ?? blindRecordOf(line));
  const next = await visitLatest(path, { ...filter, mostBytes: MOST_BYTES }, (line) => {
    const record = wantedOf(line);
    if (record === null) return true;
    isEmulated ||= isOfEmulator(record);
    addTo(all.at("all"), record);
    for (const { of, sums } of groups) addTo(sums.at(of(record)), record);
    return true;
  });
  const older = next && html`<a rel="next" href="${addressOf("/spend", filter, next)}">Older</a>`;
  const body = html`${groups.map(({ name, sums }) => sumsTable(name, sums))}
    <p class="links">${older}</p>`;
  const about = describeTotal(all.at("all"));
  const contents = groups.map(({ name }) => ({ href: `#${name}`, name: `By ${name}` }));
  return reportPage({ heading: "Spend", path: "/spend", about, contents, isEmulated, body });
}

/** Sums by name. */
class Sums extends Map<string, Summary> {
  at(name: string): Summary {
    const sum = this.get(name) ?? emptySummary();
    this.set(name, sum);
    return sum;
  }
}

/** The lines are visited from the log's end, so that the first message is the latest. */
function describeTotal({ messages, first, last, ...costs }: Summary): string {
  if (messages === 0) return "No message here matches.";
  const [from, to] = [last, first].map((time) => time?.slice(0, 16).replace("T", " "));
  const paid = dollars.format(costs.decisionUsd + costs.paidUsd);
  return `${messages.toLocaleString("en")} messages from ${from} to ${to} (UTC): ${paid}.`;
}

function sumsTable(name: string, sums: ReadonlyMap<string, Summary>): Html {
  const rows = [...sums].map(([group, sum]) => [
    name === "tier" ? tierBadge(tierNames.find((tier) => tier === group) ?? null) : group,
    sum.messages.toLocaleString("en"),
    dollars.format(sum.decisionUsd),
    dollars.format(sum.paidUsd),
    sum.unpriced.replies + sum.unpriced.decisions,
    sum.compared === 0 ? "–" : dollars.format(savingOf(sum).savedUsd),
  ]);
  const head = [name, "messages", "decisions", "replies", "without a price", "saved"];
  return html`<section class="part" id="${name}">
    <h2>By ${name}</h2>
    ${table(`Spend by ${name}`, head, rows)}
  </section>`;
}
