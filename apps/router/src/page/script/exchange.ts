import type { ChatOutcome } from "../../routes/chat-response.ts";
import type { Decision } from "../../decision/decision.ts";
import { ask } from "./ask.ts";
import { showDecision, showOutcome } from "./decision-view.ts";
import { announce, byId, copyOf, partOf, reveal } from "./elements.ts";
import { createReplyView } from "./reply-view.ts";
import { costsOf, type Totals } from "./totals.ts";

/** What ends an exchange, and what counts it. */
export interface ExchangeOptions {
  readonly signal: AbortSignal;
  readonly totals: Totals;
}

/** Sends a message and shows what comes back in a card of its own, until it ends or is stopped. */
export async function exchange(message: string, { signal, totals }: ExchangeOptions) {
  const card = copyOf("exchange");
  const heading = partOf(card, ".message");
  heading.textContent = message;
  byId("exchanges").prepend(card);
  if (heading.scrollHeight > heading.clientHeight) heading.tabIndex = 0; // scrolled with the keyboard
  announce("Choosing a tier");
  const reply = createReplyView(card);
  let decision: Decision | null = null;
  for await (const { name, data } of ask(message, signal)) {
    if (name === "reply") reply.add(data.delta);
    if (name === "error") showFailure(card, data.error, decision);
    if (name === "decision") showChoice(card, (decision = data));
    if (name === "done" && decision !== null)
      showEnd(card, { decision, response: data, text: reply.text(), totals });
  }
  reply.finish();
  partOf(card, ".pending").remove();
  if (signal.aborted) showStopped(card);
}

function showChoice(card: HTMLElement, decision: Decision): void {
  showDecision(card, decision);
  partOf(card, ".pending").textContent = "Waiting for the rest of the reply…";
  announce(`${decision.tierUsed}. ${decision.model} replies`);
}

function showFailure(card: HTMLElement, error: string, decision: Decision | null): void {
  reveal(card, decision === null ? ".failure" : ".reply-error").append(error);
  announce(`${decision === null ? "No tier was chosen" : "The reply failed"}. ${error}`);
}

interface End {
  readonly decision: Decision;
  readonly response: ChatOutcome;
  /** The reply's text, which came before its end. */
  readonly text: string;
  readonly totals: Totals;
}

function showEnd(card: HTMLElement, { decision, response, text, totals }: End): void {
  const costs = costsOf(decision, response);
  showOutcome(card, response, costs);
  if (response.replyError !== null) return showFailure(card, response.replyError, decision);
  totals.add(response, costs);
  reveal(document, "#totals").textContent = totals.describe();
  announce(`${decision.tierUsed} says: ${text}`);
}

function showStopped(card: HTMLElement): void {
  reveal(card, ".stopped");
  announce("Stopped");
}
