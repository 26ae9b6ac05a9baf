import { html, type Html, table } from "evaluator-kit/page";
import { tierNames } from "../decision/tier-question.ts";
import { addressOf, type listMessages, type MessageFilter } from "./latest-messages.ts";
import type { LoggedRecord } from "./read-records.ts";
import { isOfEmulator, reportPage, tierBadge } from "./report-page.ts";
import { dollars } from "./totals.ts";

type MessagePage = Awaited<ReturnType<typeof listMessages>>;

/** Returns a message as `/decisions.json` lists it; costs and times are null if unknown. */
export function toListed(record: LoggedRecord) {
  const { time, requestId, tierUsed: tier, model, key, cause, outcome } = record;
  const { decisionCostUsd, replyCostUsd, decisionMs, replyMs } = record;
  const isUnknown = outcome === "replied" && replyCostUsd === null; // its decision may have a price
  const costUsd = isUnknown ? null : sumOf(decisionCostUsd, replyCostUsd);
  const ms = sumOf(decisionMs, replyMs);
  return { requestId, time, tier, model, key, cause, outcome, costUsd, ms };
}

function sumOf(one: number | null, other: number | null): number | null {
  return one === null && other === null ? null : (one ?? 0) + (other ?? 0);
}

/** Draws a page of the messages in the decision log. */
export function decisionsPage(filter: MessageFilter, page: MessagePage, blind: string | null) {
  const { messages, next } = page;
  const rows = messages.map((record) => toRow(toListed(record)));
  const head = ["time (UTC)", "tier", "model", "key", "cause", "cost", "ms"];
  const body = html`${blind === null ? null : html`<p>${blind}</p>`} ${filterForm(filter)}
    ${messages.length === 0 ? html`<p>No message here matches.</p>` : table("Messages", head, rows)}
    <p class="links" id="end">
      ${filter.after === undefined ? null : html`<a href="${addressOf("/decisions", filter, null)}">Newest</a>`}
      ${next === null ? null : html`<a rel="next" href="${addressOf("/decisions", filter, next)}">Older</a>`}
    </p>`;
  const about = "Messages of the decision log, the latest first.";
  const isEmulated = messages.some(isOfEmulator);
  const contents = [
    { href: "#filter", name: "Filter" },
    { href: "#end", name: "End of the list" },
  ];
  return reportPage({
    heading: "Decisions",
    path: "/decisions",
    about,
    contents,
    isEmulated,
    body,
  });
}

function toRow(listed: ReturnType<typeof toListed>) {
  const { requestId, time, tier, model, key, cause, outcome, costUsd, ms } = listed;
  const name = html`<time datetime="${time}">${time.slice(0, 19).replace("T", " ")}</time>`;
  const isAnswered = outcome === "replied" || outcome === "decided";
  const address = `/decisions/${encodeURIComponent(requestId ?? "")}`;
  return [
    requestId === null ? name : html`<a href="${address}">${name}</a>`,
    tierBadge(tier),
    html`<code>${model ?? "–"}</code>`,
    key ?? "–",
    isAnswered ? (cause ?? "–") : outcome,
    costUsd === null ? "unknown" : dollars.format(costUsd),
    ms === null ? "–" : ms.toLocaleString("en"),
  ];
}

/** A form of fields in the address, which works without a script. */
function filterForm({ tier, ...filter }: MessageFilter): Html {
  const options = tierNames.map(
    (name) => html`<option ${name === tier ? html`selected` : null}>${name}</option>`,
  );
  const fields = (["key", "cause", "from", "to"] as const).map(
    (name) =>
      html`<label
        >${name} <input class="field" name="${name}" value="${filter[name] ?? ""}"
      /></label> `,
  );
  return html`<form class="filters" id="filter" aria-label="Filter">
    <label
      >tier
      <select class="field" name="tier">
        <option value="">any</option>
        ${options}
      </select></label
    >
    ${fields}<button class="button" type="submit">Filter</button>
  </form>`;
}
