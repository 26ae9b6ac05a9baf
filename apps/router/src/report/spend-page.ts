import { html, table } from "evaluator-kit/page";
import { tierNames } from "../decision/tier-question.ts";
import { addressOf, type MessageFilter, messageFilter, visitLatest } from "./latest-messages.ts";
import { messageOf } from "./read-records.ts";
import { isOfEmulator, reportPage, tierBadge } from "./report-page.ts";
import { Totals, totalsHead } from "./totals.ts";

/** The part of the log that one request sums up: about forty thousand messages, in half a second. */
const MOST_BYTES = 32 * 1024 * 1024;

/** Draws the totals of the latest wanted messages, by day, tier, key and more. */
export async function spendPage(path: string, filter: MessageFilter): Promise<string> {
  const totals = new Totals();
  let isEmulated = false;
  const wantedOf = messageFilter(filter, messageOf);
  const next = await visitLatest(path, { ...filter, mostBytes: MOST_BYTES }, (line) => {
    const record = wantedOf(line);
    if (record === null) return true;
    isEmulated ||= isOfEmulator(record);
    totals.add(record);
    return true;
  });
  const older = next && html`<a rel="next" href="${addressOf("/spend", filter, next)}">Older</a>`;
  const groups = totals.tables();
  const tables = groups.map(({ name, rows }) => {
    const nameOf = (group: string) =>
      name === "tier" ? tierBadge(tierNames.find((tier) => tier === group) ?? null) : group;
    const cells = rows.map(([group, ...sums]) => [nameOf(group), ...sums]);
    return html`<section class="part" id="${name}">
      <h2>By ${name}</h2>
      ${table(`Spend by ${name}`, [name, ...totalsHead], cells)}
    </section>`;
  });
  return reportPage({
    heading: "Spend",
    path: "/spend",
    about: totals.describe(),
    contents: groups.map(({ name }) => ({ href: `#${name}`, name: `By ${name}` })),
    isEmulated,
    body: html`${tables}
      <p class="links">${older}</p>`,
  });
}
