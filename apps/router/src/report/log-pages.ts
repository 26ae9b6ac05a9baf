import { percent } from "evaluator-kit";
import { html, type Html, page, table } from "evaluator-kit/page";
import { toDecider } from "../decision/decide.ts";
import { type Tier, tierNames } from "../decision/tier-question.ts";
import { listLinks, TOOL } from "../page/load-page.ts";
import {
  toAddress,
  type listMessages,
  type MessageFilter,
  messageFilter,
  visitLatest,
} from "./latest-messages.ts";
import { type LoggedRecord, findMessage, type Note } from "./read-records.ts";
import { dollars, findPromise, Totals } from "./totals.ts";

/** Returns a call as `/decisions.json` lists it; costs and times are null if unknown, and kinds for a message. */
export function toListed(record: LoggedRecord) {
  const { time, requestId, tierUsed: tier, model, key, cause, outcome, endpoint } = record;
  const { decisionCostUsd, replyCostUsd, decisionMs, replyMs, evaluation } = record;
  const isUnknown = outcome === "replied" && replyCostUsd === null; // its decision may have a price
  const messageUsd = isUnknown ? null : computeSum(decisionCostUsd, replyCostUsd);
  const costUsd = evaluation === null ? messageUsd : evaluation.usd;
  const ms = computeSum(decisionMs, replyMs);
  const kinds = evaluation?.kinds ?? null;
  return { requestId, time, endpoint, tier, model, key, cause, kinds, outcome, costUsd, ms };
}

function computeSum(one: number | null, other: number | null): number | null {
  return one === null && other === null ? null : (one ?? 0) + (other ?? 0);
}

/** Draws a page of the messages in the decision log. */
export function decisionsPage(
  filter: MessageFilter,
  listedPage: Awaited<ReturnType<typeof listMessages>>,
  blind: string | null,
) {
  const { messages, next } = listedPage;
  const rows = messages.map((record) => toRow(toListed(record)));
  const head = ["time (UTC)", "tier or endpoint", "model", "key", "cause or kinds", "cost", "ms"];
  const body = html`${blind === null ? null : html`<p>${blind}</p>`} ${filterForm(filter)}
    ${messages.length === 0 ? html`<p>No message here matches.</p>` : table("Messages", head, rows)}
    <p class="links" id="end">
      ${filter.after === undefined ? null : html`<a href="${toAddress("/decisions", filter, null)}">Newest</a>`}
      ${next === null ? null : html`<a rel="next" href="${toAddress("/decisions", filter, next)}">Older</a>`}
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

function toRow(listedEntry: ReturnType<typeof toListed>) {
  const { requestId, time, endpoint, tier, model, key, cause, kinds, outcome, costUsd, ms } =
    listedEntry;
  const name = html`<time datetime="${time}">${time.slice(0, 19).replace("T", " ")}</time>`;
  const isAnswered = outcome === "replied" || outcome === "decided";
  const address = `/decisions/${encodeURIComponent(requestId ?? "")}`;
  return [
    requestId === null ? name : html`<a href="${address}">${name}</a>`,
    kinds === null ? tierBadge(tier) : html`<code>${endpoint}</code>`,
    html`<code>${model ?? "–"}</code>`,
    key ?? "–",
    kinds === null ? (isAnswered ? (cause ?? "–") : outcome) : `${kinds}: ${outcome}`,
    costUsd === null ? "unknown" : dollars.format(costUsd),
    ms === null ? "–" : ms.toLocaleString("en"),
  ];
}

/** A form of fields in the address, which works without a script. */
function filterForm({ tier, ...filter }: MessageFilter): Html {
  const options = tierNames.map(
    (name) => html`<option ${name === tier ? html`selected` : null}>${name}</option>`,
  );
  const fields = (["key", "cause", "endpoint", "from", "to"] as const).map(
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

/** Draws one message of the decision log, with its probabilities, its costs and the thumbs. */
export function messagePage(record: LoggedRecord, note: Note | null): string {
  const { tierUsed, model, requestId, evaluation, endpoint } = record;
  const badge = evaluation === null ? tierBadge(tierUsed) : html`<code>${endpoint}</code>`;
  const body = html`<article class="message-card">
    <div class="decision" data-tier="${tierUsed ?? "none"}">
      <h2 class="choice">${badge}<span class="model">${model}</span></h2>
      ${findShares(record)} ${listFacts(record)}
    </div>
    ${evaluation === null ? listThumbs(requestId ?? "", note) : null}
  </article>`;
  const about = html`Request
    <span class="id">${requestId}.</span>
    ${"state" in record ? "The log holds its text." : "The log holds no text."}`;
  const isEmulated = isOfEmulator(record);
  return reportPage({ heading: "One message", path: "/decisions", about, isEmulated, body });
}

function findShares({ probabilities, tierChosen }: LoggedRecord): Html | null {
  if (probabilities === null) return null;
  const shares = tierNames.map((tier) => {
    const share = probabilities[tier] ?? 0;
    const chosenClass = tier === tierChosen ? "chosen" : "";
    return html`<div class="share ${chosenClass}" data-tier="${tier}">
      <dt>${tier}</dt>
      <dd>
        <span class="bar" style="--share:${share}"></span
        ><span class="percent">${percent(share)}</span>
      </dd>
    </div>`;
  });
  return html`<dl class="shares">${shares}</dl>`;
}

/** The other fields of the log, by the words of their names. */
function listFacts(record: LoggedRecord): Html {
  const { evaluation } = record;
  const promiseField =
    evaluation === null
      ? { promise: findPromise(record) ?? "none: no calibration" }
      : { kinds: evaluation.kinds };
  const facts = Object.entries<unknown>({ ...record, ...promiseField }).flatMap(([name, value]) => {
    if (value === null || typeof value === "object" || shownNames.has(name)) return [];
    const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    const roundedText = Number(value).toLocaleString("en", { maximumFractionDigits: 2 });
    const other = typeof value === "number" ? roundedText : (value as string | boolean);
    const text = name.endsWith("Usd") ? dollars.format(Number(value)) : String(other);
    return html`<div>
      <dt>${words.replace(/ usd$/, "")}</dt>
      <dd>${text}</dd>
    </div>`;
  });
  return html`<dl class="facts">${facts}</dl>`;
}

const shownNames: ReadonlySet<string> = new Set(["requestId", "tierUsed", "model", "state"]);

function listThumbs(requestId: string, note: Note | null): Html {
  const notedText = note?.thumb ?? `${note?.feedback} was right`;
  const buttons = (["up", "down"] as const).map((thumb) => {
    const words = thumb === "up" ? "Thumb up: a good reply" : "Thumb down: a bad reply";
    const address = `/decisions/${encodeURIComponent(requestId)}?thumb=${thumb}`;
    return html`<form method="post" action="${address}">
      <button class="button" type="submit">${words}</button>
    </form>`;
  });
  return html`<div class="thumbs">
    ${buttons}${note === null ? null : html`<span class="quiet">Noted: ${notedText}.</span>`}
  </div>`;
}

/** The part of the log that one request sums up: about forty thousand messages, in half a second. */
const MOST_BYTES = 32 * 1024 * 1024;

/** Draws the totals of the latest wanted messages, by day, tier, key and more. */
export async function spendPage(path: string, filter: MessageFilter): Promise<string> {
  const totals = new Totals();
  let isEmulated = false;
  const wantedOf = messageFilter(filter, findMessage);
  const next = await visitLatest(path, { ...filter, mostBytes: MOST_BYTES }, (line) => {
    const record = wantedOf(line);
    if (record === null) return true;
    isEmulated ||= isOfEmulator(record);
    totals.add(record);
    return true;
  });
  const older = next && html`<a rel="next" href="${toAddress("/spend", filter, next)}">Older</a>`;
  const groups = totals.tables();
  const tables = groups.map(({ name, rows }) => {
    const toName = (group: string) =>
      name === "tier" ? tierBadge(tierNames.find((tier) => tier === group) ?? null) : group;
    const cells = rows.map(([group, ...sums]) => [toName(group), ...sums]);
    return html`<section class="part" id="${name}">
      <h2>By ${name}</h2>
      ${table(`Spend by ${name}`, [name, ...totals.head()], cells)}
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

type ReportPage = Pick<Parameters<typeof page>[0], "heading" | "about" | "contents" | "body"> & {
  /** The page that the navigation marks. */
  readonly path: Parameters<typeof listLinks>[0];
  readonly isEmulated: boolean;
};

/** Returns a page of the decision log, without a script. */
function reportPage({ path, about = null, isEmulated, ...parts }: ReportPage): string {
  return page({
    ...parts,
    tool: TOOL,
    pages: listLinks(path),
    title: `${parts.heading} · Tier router`,
    about: html`<p class="about">${about}</p>
      ${isEmulated ? html`<p class="notice">${EMULATED}</p>` : null}`,
    styles: [new URL("../page/tiers.css", import.meta.url), new URL("report.css", import.meta.url)],
    formsTo: "self",
  });
}

const EMULATED = "The local emulator made answers of this page, not a model.";

/** Whether the emulator decided or replied. */
function isOfEmulator({ evaluatorModelId, wire, upstream }: LoggedRecord): boolean {
  return upstream === "emulator" || toDecider(evaluatorModelId, wire).isEmulated === true;
}

/** Returns a tier in its colour. */
function tierBadge(tier: Tier | null): Html {
  return tier === null ? html`none` : html`<span class="badge" data-tier="${tier}">${tier}</span>`;
}
