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
const message = byId("message") as HTMLTextAreaElement;
const send = toPart(composer, ".send");
const stop = toPart(composer, ".stop");
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

showPrograms();

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
      if (data.replyError !== null) continue;
      reply.showActions(past);
      session.keep(past);
    }
  }
  reply.finish();
  toPart(card, ".pending").remove();
  void showBudget();
  if (!signal.aborted) return;
  reveal(card, ".stopped");
  announce("Stopped");
}

function showPast(past: PastMessage): void {
  const card = addCard(past.message);
  showDecision(card, past.decision);
  const reply = createReplyView(card);
  reply.add(past.text);
  reply.finish();
  toPart(card, ".pending").remove();
  showEnd(card, past);
  reply.showActions(past);
  announce("");
}

function addCard(message: string): HTMLElement {
  const card = toCopy("message-card");
  const [heading, text] = [toPart(card, "h2"), toPart(card, ".message")];
  heading.textContent = message.slice(0, 60);
  text.textContent = message;
  byId("message-cards").prepend(card);
  // Scrolled with the keyboard.
  if (text.scrollHeight > text.clientHeight) {
    Object.assign(text, { tabIndex: 0, role: "group", ariaLabel: "The text" });
  }
  addLink(card, heading);
  return card;
}

/** Adds a card to the list of contents, which is shown from the third one on. */
function addLink(card: HTMLElement, { textContent }: HTMLElement): void {
  const contents = byId("contents");
  const link = document.createElement("a");
  card.id = `message-${contents.childElementCount}`;
  link.href = `#${card.id}`;
  link.textContent = textContent;
  contents.prepend(link);
  contents.hidden = contents.childElementCount < 3;
}

function showChoice(card: HTMLElement, decision: Decision): void {
  showDecision(card, decision);
  void showDecider();
  toPart(card, ".pending").textContent = "Waiting for the rest of the reply…";
  announce(`${decision.tierUsed}. ${decision.model} replies`);
}

function showFailure(card: HTMLElement, error: string, decision: Decision | null): void {
  reveal(card, decision === null ? ".failure" : ".reply-error").append(error);
  announce(`${decision === null ? "No tier was chosen" : "The reply failed"}. ${error}`);
}

function showEnd(card: HTMLElement, past: PastMessage): void {
  const { decision, outcome, text } = past;
  const costs = session.costsOf(past);
  const facts: [name: string, value: string][] = [["replied in", duration(outcome.replyMs)]];
  const { usage } = outcome;
  if (usage !== null) {
    facts.push(["tokens", `${tokens(usage.inputTokens)} in, ${tokens(usage.outputTokens)} out`]);
    facts.push(["cost", usd(costs.paid)], ["frontier would cost", usd(costs.frontier)]);
  }
  toPart(card, ".facts").append(...facts.map(toFact));
  if (outcome.replyError !== null) return showFailure(card, outcome.replyError, decision);
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
    const entries = (await response.json()) as readonly TierEntry[];
    byId("tiers").replaceChildren(...entries.map(toEntry));
    byId("tiers").hidden = false;
  } catch {
    // The page works without the list.
  }
}

function toEntry({ tier, model, price }: TierEntry): HTMLElement {
  const entry = toCopy("tier");
  entry.dataset["tier"] = tier;
  toPart(entry, ".tier-name").textContent = tier;
  toPart(entry, ".tier-model").textContent = model;
  toPart(entry, ".tier-price").textContent =
    price === null
      ? "price unknown"
      : `$${price.inputUsdPerMillionTokens} in, $${price.outputUsdPerMillionTokens} out`;
  return entry;
}

/** Shows who made the latest decision. */
async function showDecider(): Promise<void> {
  const response = await fetch("/readyz").catch(() => null);
  const body = (await response?.json().catch(() => null)) as { decider?: Decider } | null;
  if (body?.decider === undefined) return;
  const { modelId, isEmulated } = body.decider;
  const line = byId("decider");
  line.hidden = isEmulated === true && modelId === null; // the notice already shows this
  line.className = isEmulated === true ? "banner" : "engine";
  line.textContent =
    isEmulated === null
      ? "No model has answered yet, so the deciding model is unknown."
      : `The latest decision was made by ${describeDecider(body.decider)}.`;
}

for (const past of session.messages()) showPast(past);
void showTiers();
void showDecider();
updateButtons();
