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

function computeSum(firstUsd: number | null, secondUsd: number | null): number | null {
  return firstUsd === null && secondUsd === null ? null : (firstUsd ?? 0) + (secondUsd ?? 0);
}

/** Draws a page of the messages in the decision log. */
export function decisionsPage(
  filter: MessageFilter,
  listedPage: Awaited<ReturnType<typeof listMessages>>,
  blindText: string | null,
) {
  const { messages, next } = listedPage;
  const messageRows = messages.map((record) => toRow(toListed(record)));
  const head = ["time (UTC)", "tier or endpoint", "model", "key", "cause or kinds", "cost", "ms"];
  const body = html`${blindText === null ? null : html`<p>${blindText}</p>`} ${filterForm(filter)}
    ${messages.length === 0 ? html`<p>No message here matches.</p>` : table("Messages", head, messageRows)}
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
  const timeHtml = html`<time datetime="${time}">${time.slice(0, 19).replace("T", " ")}</time>`;
  const hasCause = outcome === "replied" || outcome === "decided";
  const messageAddress = `/decisions/${encodeURIComponent(requestId ?? "")}`;
  return [
    requestId === null ? timeHtml : html`<a href="${messageAddress}">${timeHtml}</a>`,
    kinds === null ? tierBadge(tier) : html`<code>${endpoint}</code>`,
    html`<code>${model ?? "–"}</code>`,
    key ?? "–",
    kinds === null ? (hasCause ? (cause ?? "–") : outcome) : `${kinds}: ${outcome}`,
    costUsd === null ? "unknown" : dollars.format(costUsd),
    ms === null ? "–" : ms.toLocaleString("en"),
  ];
}

/** A form of fields in the address, which works without a script. */
function filterForm({ tier, ...filter }: MessageFilter): Html {
  const tierOptions = tierNames.map(
    (tierName) => html`<option ${tierName === tier ? html`selected` : null}>${tierName}</option>`,
  );
  const filterFields = (["key", "cause", "endpoint", "from", "to"] as const).map(
    (fieldName) =>
      html`<label
        >${fieldName} <input class="field" name="${fieldName}" value="${filter[fieldName] ?? ""}"
      /></label> `,
  );
  return html`<form class="filters" id="filter" aria-label="Filter">
    <label
      >tier
      <select class="field" name="tier">
        <option value="">any</option>
        ${tierOptions}
      </select></label
    >
    ${filterFields}<button class="button" type="submit">Filter</button>
  </form>`;
}

/** Draws one message of the decision log, with its probabilities, its costs and the thumbs. */
export function messagePage(record: LoggedRecord, note: Note | null): string {
  const { tierUsed, model, requestId, evaluation, endpoint } = record;
  const tierOrEndpoint = evaluation === null ? tierBadge(tierUsed) : html`<code>${endpoint}</code>`;
  const body = html`<article class="message-card">
    <div class="decision" data-tier="${tierUsed ?? "none"}">
      <h2 class="choice">${tierOrEndpoint}<span class="model">${model}</span></h2>
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
  const shareRows = tierNames.map((tier) => {
    const tierShare = probabilities[tier] ?? 0;
    const chosenClass = tier === tierChosen ? "chosen" : "";
    return html`<div class="share ${chosenClass}" data-tier="${tier}">
      <dt>${tier}</dt>
      <dd>
        <span class="bar" style="--share:${tierShare}"></span
        ><span class="percent">${percent(tierShare)}</span>
      </dd>
    </div>`;
  });
  return html`<dl class="shares">${shareRows}</dl>`;
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
    const nameWords = name.replace(/[A-Z]/g, (capitalLetter) => ` ${capitalLetter.toLowerCase()}`);
    const roundedText = Number(value).toLocaleString("en", { maximumFractionDigits: 2 });
    const plainValue = typeof value === "number" ? roundedText : (value as string | boolean);
    const factText = name.endsWith("Usd") ? dollars.format(Number(value)) : String(plainValue);
    return html`<div>
      <dt>${nameWords.replace(/ usd$/, "")}</dt>
      <dd>${factText}</dd>
    </div>`;
  });
  return html`<dl class="facts">${facts}</dl>`;
}

const shownNames: ReadonlySet<string> = new Set(["requestId", "tierUsed", "model", "state"]);

function listThumbs(requestId: string, note: Note | null): Html {
  const notedText = note?.thumb ?? `${note?.feedback} was right`;
  const thumbButtons = (["up", "down"] as const).map((thumb) => {
    const buttonText = thumb === "up" ? "Thumb up: a good reply" : "Thumb down: a bad reply";
    const thumbAddress = `/decisions/${encodeURIComponent(requestId)}?thumb=${thumb}`;
    return html`<form method="post" action="${thumbAddress}">
      <button class="button" type="submit">${buttonText}</button>
    </form>`;
  });
  return html`<div class="thumbs">
    ${thumbButtons}${note === null ? null : html`<span class="quiet">Noted: ${notedText}.</span>`}
  </div>`;
}

/** The part of the log that one request sums up: about forty thousand messages, in half a second. */
const MOST_BYTES = 32 * 1024 * 1024;

/** Draws the totals of the latest wanted messages, by day, tier, key and more. */
export async function spendPage(logPath: string, filter: MessageFilter): Promise<string> {
  const totals = new Totals();
  let isEmulated = false;
  const toWanted = messageFilter(filter, findMessage);
  const next = await visitLatest(logPath, { ...filter, mostBytes: MOST_BYTES }, (logLine) => {
    const wantedRecord = toWanted(logLine);
    if (wantedRecord === null) return true;
    isEmulated ||= isOfEmulator(wantedRecord);
    totals.add(wantedRecord);
    return true;
  });
  const older = next && html`<a rel="next" href="${toAddress("/spend", filter, next)}">Older</a>`;
  const spendGroups = totals.tables();
  const groupTables = spendGroups.map(({ name, rows }) => {
    const toGroupName = (groupName: string) =>
      name === "tier" ? tierBadge(tierNames.find((tier) => tier === groupName) ?? null) : groupName;
    const tableCells = rows.map(([groupName, ...sums]) => [toGroupName(groupName), ...sums]);
    return html`<section class="part" id="${name}">
      <h2>By ${name}</h2>
      ${table(`Spend by ${name}`, [name, ...totals.head()], tableCells)}
    </section>`;
  });
  return reportPage({
    heading: "Spend",
    path: "/spend",
    about: totals.describe(),
    contents: spendGroups.map(({ name }) => ({ href: `#${name}`, name: `By ${name}` })),
    isEmulated,
    body: html`${groupTables}
      <p class="links">${older}</p>`,
  });
}

type ReportPage = Pick<Parameters<typeof page>[0], "heading" | "about" | "contents" | "body"> & {
  /** The page that the navigation marks. */
  readonly path: Parameters<typeof listLinks>[0];
  readonly isEmulated: boolean;
};

/** Returns a page of the decision log, without a script. */
function reportPage({ path, about = null, isEmulated, ...pageParts }: ReportPage): string {
  return page({
    ...pageParts,
    tool: TOOL,
    pages: listLinks(path),
    title: `${pageParts.heading} · Tier router`,
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
