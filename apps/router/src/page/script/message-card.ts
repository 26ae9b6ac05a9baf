import type { Decision } from "../../decision/decision.ts";
import { ask } from "./ask.ts";
import { showDecision, showOutcome } from "./decision-view.ts";
import { showDecider } from "./decider.ts";
import { announce, byId, copyOf, partOf, reveal } from "./elements.ts";
import { keepMessage, type PastMessage } from "./history.ts";
import { showActions } from "./reply-actions.ts";
import { createReplyView } from "./reply-view.ts";
import { costsOf, type Totals } from "./totals.ts";

/** What ends the wait for an answer, and what counts it. */
export interface CardOptions {
  readonly signal: AbortSignal;
  readonly totals: Totals;
}

/** Sends a message and shows what comes back in a card of its own, until it ends or is stopped. */
export async function showAnswer(message: string, { signal, totals }: CardOptions) {
  const card = addCard(message);
  announce("Choosing a tier");
  const reply = createReplyView(card);
  let decision: Decision | null = null;
  let requestId: string | null = null;
  for await (const { name, data } of ask(message, signal)) {
    if (name === "request") ({ requestId } = data);
    if (name === "reply") reply.add(data.delta);
    if (name === "error") showFailure(card, data.error, decision);
    if (name === "decision") showChoice(card, (decision = data));
    if (name === "done" && decision !== null) {
      const past = { message, decision, outcome: data, text: reply.text(), requestId };
      showEnd(card, past, totals);
      if (data.replyError === null) keepMessage(past);
    }
  }
  reply.finish();
  partOf(card, ".pending").remove();
  if (signal.aborted) showStopped(card);
}

/** Shows a message of this session again, as it ended. */
export function showPast(past: PastMessage, totals: Totals): void {
  const card = addCard(past.message);
  showDecision(card, past.decision);
  const reply = createReplyView(card);
  reply.add(past.text);
  reply.finish();
  partOf(card, ".pending").remove();
  showEnd(card, past, totals);
  announce("");
}

function addCard(message: string): HTMLElement {
  const card = copyOf("message-card");
  const heading = partOf(card, ".message");
  heading.textContent = message;
  byId("message-cards").prepend(card);
  if (heading.scrollHeight > heading.clientHeight) heading.tabIndex = 0; // scrolled with the keyboard
  return card;
}

function showChoice(card: HTMLElement, decision: Decision): void {
  showDecision(card, decision);
  void showDecider();
  partOf(card, ".pending").textContent = "Waiting for the rest of the reply…";
  announce(`${decision.tierUsed}. ${decision.model} replies`);
}

function showFailure(card: HTMLElement, error: string, decision: Decision | null): void {
  reveal(card, decision === null ? ".failure" : ".reply-error").append(error);
  announce(`${decision === null ? "No tier was chosen" : "The reply failed"}. ${error}`);
}

function showEnd(card: HTMLElement, past: PastMessage, totals: Totals): void {
  const { decision, outcome, text } = past;
  const costs = costsOf(decision, outcome);
  showOutcome(card, outcome, costs);
  if (outcome.replyError !== null) return showFailure(card, outcome.replyError, decision);
  totals.add(outcome, costs);
  reveal(document, "#totals").textContent = totals.describe();
  reveal(document, "#forget");
  showActions(card, past);
  announce(`${decision.tierUsed} says: ${text}`);
}

function showStopped(card: HTMLElement): void {
  reveal(card, ".stopped");
  announce("Stopped");
}
