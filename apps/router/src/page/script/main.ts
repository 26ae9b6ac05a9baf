import {
  type Decider,
  type Decision,
  describeDecider,
  type TierEntry,
} from "../../decision/decision.ts";
import { showDecision } from "./decision-view.ts";
import {
  announce,
  byId,
  toCopy,
  duration,
  toPart,
  reveal,
  toFact,
  tokens,
  usd,
} from "./elements.ts";
import { showBudget } from "./budget.ts";
import { showPrograms } from "./programs.ts";
import { createReplyView } from "./reply-view.ts";
import { ask } from "./router.ts";
import { createSession, type PastMessage } from "./session.ts";

const composer = byId("composer") as HTMLFormElement;
const messageField = byId("message") as HTMLTextAreaElement;
const sendButton = toPart(composer, ".send");
const stopButton = toPart(composer, ".stop");
const session = createSession();
let runningCall: AbortController | null = null;

composer.addEventListener("submit", (event) => {
  event.preventDefault();
  const messageText = messageField.value;
  if (runningCall !== null || messageText.trim() === "") return;
  messageField.value = "";
  void runMessage(messageText);
});

async function runMessage(messageText: string): Promise<void> {
  runningCall = new AbortController();
  updateButtons();
  await showAnswer(messageText, runningCall.signal);
  runningCall = null;
  if (document.activeElement === stopButton) messageField.focus(); // the button disappears
  updateButtons();
}

messageField.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  composer.requestSubmit();
});
messageField.addEventListener("input", updateButtons);

stopButton.addEventListener("click", () => runningCall?.abort());
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") runningCall?.abort();
});

for (const example of document.querySelectorAll(".examples button")) {
  example.addEventListener("click", () => {
    if (runningCall !== null) return;
    messageField.value = example.textContent;
    composer.requestSubmit();
  });
}

function updateButtons(): void {
  const canSend = runningCall === null && messageField.value.trim() !== "";
  sendButton.setAttribute("aria-disabled", String(!canSend));
  stopButton.hidden = runningCall === null;
}

byId("forget").addEventListener("click", () => {
  session.forget();
  location.reload(); // removes the cards and the sums too
});

showPrograms();

/** Sends a message and shows the answer in a new card, until it ends or is stopped. */
async function showAnswer(message: string, signal: AbortSignal) {
  const messageCard = addCard(message);
  announce("Choosing a tier");
  const replyView = createReplyView(messageCard);
  let decision: Decision | null = null;
  let requestId: string | null = null;
  for await (const { name, data } of ask(message, { signal })) {
    if (name === "request") ({ requestId } = data);
    if (name === "reply") replyView.add(data.delta);
    if (name === "error") showFailure(messageCard, data.error, decision);
    if (name === "decision") showChoice(messageCard, (decision = data));
    if (name === "done" && decision !== null) {
      const pastMessage = { message, decision, outcome: data, text: replyView.text(), requestId };
      showEnd(messageCard, pastMessage);
      if (data.replyError !== null) continue;
      replyView.showActions(pastMessage);
      session.keep(pastMessage);
    }
  }
  replyView.finish();
  toPart(messageCard, ".pending").remove();
  void showBudget();
  if (!signal.aborted) return;
  reveal(messageCard, ".stopped");
  announce("Stopped");
}

function showPast(pastMessage: PastMessage): void {
  const messageCard = addCard(pastMessage.message);
  showDecision(messageCard, pastMessage.decision);
  const replyView = createReplyView(messageCard);
  replyView.add(pastMessage.text);
  replyView.finish();
  toPart(messageCard, ".pending").remove();
  showEnd(messageCard, pastMessage);
  replyView.showActions(pastMessage);
  announce("");
}

function addCard(messageText: string): HTMLElement {
  const messageCard = toCopy("message-card");
  const [cardHeading, cardText] = [toPart(messageCard, "h2"), toPart(messageCard, ".message")];
  cardHeading.textContent = messageText.slice(0, 60);
  cardText.textContent = messageText;
  byId("message-cards").prepend(messageCard);
  // Scrolled with the keyboard.
  if (cardText.scrollHeight > cardText.clientHeight) {
    Object.assign(cardText, { tabIndex: 0, role: "group", ariaLabel: "The text" });
  }
  addLink(messageCard, cardHeading);
  return messageCard;
}

/** Adds a card to the list of contents, which is shown from the third one on. */
function addLink(messageCard: HTMLElement, { textContent }: HTMLElement): void {
  const contents = byId("contents");
  const contentsLink = document.createElement("a");
  messageCard.id = `message-${contents.childElementCount}`;
  contentsLink.href = `#${messageCard.id}`;
  contentsLink.textContent = textContent;
  contents.prepend(contentsLink);
  contents.hidden = contents.childElementCount < 3;
}

function showChoice(messageCard: HTMLElement, decision: Decision): void {
  showDecision(messageCard, decision);
  void showDecider();
  toPart(messageCard, ".pending").textContent = "Waiting for the rest of the reply…";
  announce(`${decision.tierUsed}. ${decision.model} replies`);
}

function showFailure(messageCard: HTMLElement, error: string, decision: Decision | null): void {
  reveal(messageCard, decision === null ? ".failure" : ".reply-error").append(error);
  announce(`${decision === null ? "No tier was chosen" : "The reply failed"}. ${error}`);
}

function showEnd(messageCard: HTMLElement, pastMessage: PastMessage): void {
  const { decision, outcome, text } = pastMessage;
  const costs = session.costsOf(pastMessage);
  const facts: [name: string, value: string][] = [["replied in", duration(outcome.replyMs)]];
  const { usage } = outcome;
  if (usage !== null) {
    facts.push(["tokens", `${tokens(usage.inputTokens)} in, ${tokens(usage.outputTokens)} out`]);
    facts.push(["cost", usd(costs.paid)], ["frontier would cost", usd(costs.frontier)]);
  }
  toPart(messageCard, ".facts").append(...facts.map(toFact));
  if (outcome.replyError !== null) return showFailure(messageCard, outcome.replyError, decision);
  session.add(outcome, costs);
  reveal(document, "#totals").textContent = session.describe();
  reveal(document, "#forget");
  announce(`${decision.tierUsed} says: ${text}`);
}

/** Shows every tier with its model and prices, before anything is asked. */
async function showTiers(): Promise<void> {
  try {
    const response = await fetch("/tiers");
    if (!response.ok) return;
    const tierEntries = (await response.json()) as readonly TierEntry[];
    byId("tiers").replaceChildren(...tierEntries.map(toEntry));
    byId("tiers").hidden = false;
  } catch {
    // The page works without the list.
  }
}

function toEntry({ tier, model, price }: TierEntry): HTMLElement {
  const tierElement = toCopy("tier");
  tierElement.dataset["tier"] = tier;
  toPart(tierElement, ".tier-name").textContent = tier;
  toPart(tierElement, ".tier-model").textContent = model;
  toPart(tierElement, ".tier-price").textContent =
    price === null
      ? "price unknown"
      : `$${price.inputUsdPerMillionTokens} in, $${price.outputUsdPerMillionTokens} out`;
  return tierElement;
}

/** Shows who made the latest decision. */
async function showDecider(): Promise<void> {
  const response = await fetch("/readyz").catch(() => null);
  const readyBody = (await response?.json().catch(() => null)) as { decider?: Decider } | null;
  if (readyBody?.decider === undefined) return;
  const { modelId, isEmulated } = readyBody.decider;
  const deciderLine = byId("decider");
  deciderLine.hidden = isEmulated === true && modelId === null; // the notice already shows this
  deciderLine.className = isEmulated === true ? "banner" : "engine";
  deciderLine.textContent =
    isEmulated === null
      ? "No model has answered yet, so the deciding model is unknown."
      : `The latest decision was made by ${describeDecider(readyBody.decider)}.`;
}

for (const pastMessage of session.messages()) showPast(pastMessage);
void showTiers();
void showDecider();
updateButtons();
