import { html, type Html } from "evaluator-kit/html";
import { printCount } from "evaluator-runs/source";
import { type ListFacts, mailItem } from "./mail-item.ts";
import type { ListedRow } from "./mail-row.ts";

/** The way to a shorter list. */
export const FEWER_MAILS = "Use --only and --since for fewer mails.";

/** Threads that are done or snoozed on the page. */
export const AWAY_SHOWN = 200;

/** Returns the threads that are done or snoozed, the newest first, each with a way back. */
export function awaySection(
  rows: readonly ListedRow[],
  facts: ListFacts & { readonly hasLastGroup?: boolean },
): Html | null {
  if (rows.length === 0) return null;
  const most =
    rows.length < AWAY_SHOWN ? "" : ` The newest ${AWAY_SHOWN} are shown; ${FEWER_MAILS}`;
  return html`<section class="part" id="away">
    <h2>Done and snoozed <span class="count">${printCount(rows.length)}</span></h2>
    <p class="about">Undo puts a thread back.${most}</p>
    ${facts.hasLastGroup === true ? undoButton : null}
    <ol class="mails">
      ${rows.map((row) => mailItem(row, facts, { isAway: true }))}
    </ol>
  </section>`;
}

const undoButton = html`<form class="group" id="undo-group" method="post" action="choices">
  <input type="hidden" name="group" value="last" />
  <button class="button" name="choice" value="open">Undo the last “All done”</button>
</form>`;

/** Returns a button that marks all listed threads of a group as done. */
export function doneButton(group: string, name: string): Html {
  return html`<form class="group" method="post" action="choices">
    <input type="hidden" name="group" value="${group}" />
    <button class="button" name="choice" value="done" aria-label="All done: ${name}">
      All done
    </button>
  </form>`;
}
