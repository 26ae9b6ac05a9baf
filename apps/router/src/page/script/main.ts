import type { Cause, Decision } from "../../decision/decision.ts";
import type { Tier } from "../../decision/tier-question.ts";
import {
  announce,
  byId,
  copyOf,
  copyOnClick,
  duration,
  partOf,
  percent,
  reveal,
  tokens,
  usd,
} from "./elements.ts";
import { createReplyView, showActions } from "./reply-view.ts";
import { ask, showDecider, showTiers, tiers } from "./router.ts";
import { createSession, type PastMessage } from "./session.ts";

const composer = byId("composer") as HTMLFormElement;
const message = byId("message") as HTMLTextAreaElement;
const send = partOf(composer, ".send");
const stop = partOf(composer, ".stop");
const session = createSession();
let running: AbortController | null = null;

composer.addEventListener("submit", (event) => {
  event.preventDefault();
  const text = message.value;
  if (running !== null || text.trim() === "") return;
  message.value = "";
  void run(text);
});

async function run(text: string): Promise<void> {
  running = new AbortController();
  updateButtons();
  await showAnswer(text, running.signal);
  running = null;
  if (document.activeElement === stop) message.focus(); // the button disappears
  updateButtons();
}

message.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  composer.requestSubmit();
});
message.addEventListener("input", updateButtons);

stop.addEventListener("click", () => running?.abort());
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") running?.abort();
});

for (const example of document.querySelectorAll(".examples button")) {
  example.addEventListener("click", () => {
    if (running !== null) return;
    message.value = example.textContent;
    composer.requestSubmit();
  });
}

function updateButtons(): void {
  const canSend = running === null && message.value.trim() !== "";
  send.setAttribute("aria-disabled", String(!canSend));
  stop.hidden = running === null;
}

byId("forget").addEventListener("click", () => {
  session.forget();
  location.reload(); // removes the cards and the sums too
});

const base = `${location.origin}/v1`;
const body = '{"model":"auto","messages":[{"role":"user","content":"hi"}]}';
byId("base").textContent = base;
byId("curl").textContent =
  `curl ${base}/chat/completions -H 'content-type: application/json' -d '${body}'`;
copyOnClick(byId("copy-curl"), () => byId("curl").textContent);
byId("decisions").hidden = !("feedback" in document.body.dataset);

/** Sends a message and shows the answer in a new card, until it ends or is stopped. */
async function showAnswer(message: string, signal: AbortSignal) {
  const card = addCard(message);
  announce("Choosing a tier");
  const reply = createReplyView(card);
  let decision: Decision | null = null;
  let requestId: string | null = null;
  for await (const { name, data } of ask(message, { signal })) {
    if (name === "request") ({ requestId } = data);
    if (name === "reply") reply.add(data.delta);
    if (name === "error") showFailure(card, data.error, decision);
    if (name === "decision") showChoice(card, (decision = data));
    if (name === "done" && decision !== null) {
      const past = { message, decision, outcome: data, text: reply.text(), requestId };
      showEnd(card, past);
      if (data.replyError === null) session.keep(past);
    }
  }
  reply.finish();
  partOf(card, ".pending").remove();
  if (!signal.aborted) return;
  reveal(card, ".stopped");
  announce("Stopped");
}

/** Shows a kept message again. */
function showPast(past: PastMessage): void {
  const card = addCard(past.message);
  showDecision(card, past.decision);
  const reply = createReplyView(card);
  reply.add(past.text);
  reply.finish();
  partOf(card, ".pending").remove();
  showEnd(card, past);
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

function showEnd(card: HTMLElement, past: PastMessage): void {
  const { decision, outcome, text } = past;
  const costs = session.costsOf(past);
  const facts: Fact[] = [["replied in", duration(outcome.replyMs)]];
  const { usage } = outcome;
  if (usage !== null) {
    facts.push(["tokens", `${tokens(usage.inputTokens)} in, ${tokens(usage.outputTokens)} out`]);
    facts.push(["cost", usd(costs.paid)], ["frontier would cost", usd(costs.frontier)]);
  }
  partOf(card, ".facts").append(...facts.map(toFact));
  if (outcome.replyError !== null) return showFailure(card, outcome.replyError, decision);
  session.add(outcome, costs);
  reveal(document, "#totals").textContent = session.describe();
  reveal(document, "#forget");
  showActions(card, past);
  announce(`${decision.tierUsed} says: ${text}`);
}

function showDecision(card: HTMLElement, decision: Decision): void {
  const view = reveal(card, ".decision");
  view.dataset["tier"] = decision.tierUsed ?? "none";
  partOf(view, ".badge").textContent = decision.tierUsed;
  partOf(view, ".model").textContent = decision.model;
  const doubt = doubtOf(decision);
  view.classList.toggle("doubtful", doubt !== null);
  const reason = reasons[decision.cause]?.(decision) ?? doubt;
  if (reason !== null) reveal(view, ".cause").textContent = reason;
  const { probabilities } = decision;
  const shares = probabilities === null ? [] : tiers.map((tier) => shareOf(tier, decision));
  partOf(view, ".shares").replaceChildren(...shares);
  partOf(view, ".facts").replaceChildren(...decisionFacts(decision).map(toFact));
}

type Fact = [name: string, value: string];

/** Null for the choice itself, and for causes at `/v1` only. */
const reasons: Record<Cause, ((decision: Decision) => string) | null> = {
  choice: null,
  tie: null,
  conversation: null,
  requested: null,
  shadow: null,
  "low-confidence": ({ tierChosen, tierUsed }) =>
    `The choice was ${tierChosen}, with too little confidence; the next tier up, ${tierUsed}, replies.`,
  "evaluation-failed": failureTierReplies("The evaluation failed"),
  "decision-timeout": failureTierReplies("The decision took too long"),
  "calibration-mismatch": failureTierReplies("The calibration was made for another model"),
  "model-refused": ({ tierUsed }) =>
    `The model of ${tierUsed} was refused; the fallback model replies.`,
  "model-failed": ({ tierUsed }) => `The model of ${tierUsed} failed; the fallback model replies.`,
};

function failureTierReplies(failure: string) {
  return ({ tierUsed }: Decision) =>
    `${failure}; ${tierUsed} replies, as the router is set up to do.`;
}

/** Shares closer than this, or a confidence below a half, are worth a second look. Chosen. */
const CLOSE_SHARES = 0.1;
const LOW_CONFIDENCE = 0.5;

/** Describes a choice in doubt; null for a clear one. */
function doubtOf({ probabilities, confidence, tierChosen }: Decision): string | null {
  if (probabilities === null || tierChosen === null) return null;
  const [first, second] = tiers.toSorted((one, other) => probabilities[other] - probabilities[one]);
  if (first === undefined || second === undefined) return null;
  const isClose = probabilities[first] - probabilities[second] < CLOSE_SHARES;
  if (!isClose && (confidence ?? 1) >= LOW_CONFIDENCE) return null;
  const shares = [first, second].map((tier) => `${tier} ${percent(probabilities[tier])}`);
  return `A choice in doubt: ${shares.join(", ")}.`;
}

function shareOf(tier: Tier, { probabilities, tierChosen }: Decision): HTMLElement {
  const probability = probabilities?.[tier] ?? 0;
  const share = copyOf("share");
  share.dataset["tier"] = tier;
  share.classList.toggle("chosen", tier === tierChosen);
  partOf(share, "dt").textContent = tier;
  partOf(share, ".bar").style.setProperty("--share", String(probability));
  partOf(share, ".percent").textContent = percent(probability);
  return share;
}

function decisionFacts({ tierChosen, printedProbabilities, ...decision }: Decision): Fact[] {
  const { confidence, decisionMs } = decision;
  const printed = tierChosen === null ? undefined : printedProbabilities?.[tierChosen];
  return [
    printed === undefined
      ? ["confidence", confidence === null ? "not given" : confidence.toFixed(2)]
      : ["calibrated from", percent(printed)],
    ["decided in", duration(decisionMs)],
  ];
}

function toFact([name, value]: Fact): HTMLElement {
  const fact = copyOf("fact");
  partOf(fact, "dt").textContent = name;
  partOf(fact, "dd").textContent = value;
  return fact;
}

for (const past of session.messages()) showPast(past);
void showTiers();
void showDecider();
updateButtons();
