import { html, type Html } from "evaluator-kit/page";
import { tierNames } from "../decision/tier-question.ts";
import type { findMessage } from "./latest-messages.ts";
import type { LoggedRecord } from "./read-records.ts";
import { isOfEmulator, reportPage, tierBadge } from "./report-page.ts";
import { dollars } from "./totals.ts";

type Note = Awaited<ReturnType<typeof findMessage>>["note"];

/** Draws one message of the decision log, with its probabilities, its costs and the thumbs. */
export function messagePage(record: LoggedRecord, note: Note): string {
  const { tierUsed, model, requestId } = record;
  const body = html`<article class="message-card">
    <div class="decision" data-tier="${tierUsed ?? "none"}">
      <h2 class="choice">${tierBadge(tierUsed)}<span class="model">${model}</span></h2>
      ${sharesOf(record)} ${factsOf(record)}
    </div>
    ${thumbsOf(requestId ?? "", note)}
  </article>`;
  const about = html`Request <span class="id">${requestId}.</span> The log holds no text.`;
  const isEmulated = isOfEmulator(record);
  return reportPage({ heading: "One message", path: "/decisions", about, isEmulated, body });
}

function sharesOf({ probabilities, tierChosen }: LoggedRecord): Html | null {
  if (probabilities === null) return null;
  const shares = tierNames.map((tier) => {
    const share = probabilities[tier] ?? 0;
    const [chosen, percent] = [tier === tierChosen ? "chosen" : "", (100 * share).toFixed(0)];
    return html`<div class="share ${chosen}" data-tier="${tier}">
      <dt>${tier}</dt>
      <dd>
        <span class="bar" style="--share:${share}"></span><span class="percent">${percent} %</span>
      </dd>
    </div>`;
  });
  return html`<dl class="shares">${shares}</dl>`;
}

/** The other fields of the log, by the words of their names. */
function factsOf(record: LoggedRecord): Html {
  const facts = Object.entries<unknown>(record).flatMap(([name, value]) => {
    if (value === null || typeof value === "object" || shown.has(name)) return [];
    const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    const rounded = Number(value).toLocaleString("en", { maximumFractionDigits: 2 });
    const other = typeof value === "number" ? rounded : (value as string | boolean);
    const text = name.endsWith("Usd") ? dollars.format(Number(value)) : String(other);
    return html`<div>
      <dt>${words.replace(/ usd$/, "")}</dt>
      <dd>${text}</dd>
    </div>`;
  });
  return html`<dl class="facts">${facts}</dl>`;
}

const shown: ReadonlySet<string> = new Set(["requestId", "tierUsed", "model"]);

function thumbsOf(requestId: string, note: Note): Html {
  const noted = note?.thumb ?? `${note?.feedback} was right`;
  const buttons = (["up", "down"] as const).map((thumb) => {
    const words = thumb === "up" ? "Thumb up: a good reply" : "Thumb down: a bad reply";
    const address = `/decisions/${encodeURIComponent(requestId)}?thumb=${thumb}`;
    return html`<form method="post" action="${address}">
      <button class="button" type="submit">${words}</button>
    </form>`;
  });
  return html`<div class="thumbs">
    ${buttons}${note === null ? null : html`<span class="quiet">Noted: ${noted}.</span>`}
  </div>`;
}
