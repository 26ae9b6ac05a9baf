import type { Decision } from "../../decision/decision.ts";
import type { Tier } from "../../tier-question.ts";
import { askTier } from "./ask.ts";
import { announce, copyOf, copyOnClick, partOf, reveal } from "./elements.ts";
import { createReplyView } from "./reply-view.ts";
import { tiers } from "./tiers.ts";

/** A reply that has come. */
export interface ShownReply {
  readonly message: string;
  readonly decision: Decision;
  readonly text: string;
  /** What feedback names the message by; null where nobody said. */
  readonly requestId: string | null;
}

/** Shows what can be done with a reply: copy it, ask the next tier as well, say how well it was chosen. */
export function showActions(card: HTMLElement, shown: ShownReply): void {
  const bar = reveal(card, ".reply-actions");
  const { tierUsed } = shown.decision;
  copyOnClick(partOf(bar, ".copy-reply"), () => shown.text);
  const next = tiers[tiers.indexOf(tierUsed ?? "frontier") + 1];
  if (next !== undefined) offerNext(card, { ...shown, next });
  if ("feedback" in document.body.dataset && shown.requestId !== null && tierUsed !== null) {
    offerFeedback(bar, { requestId: shown.requestId, tierUsed });
  }
}

function offerNext(card: HTMLElement, { message, decision, next }: ShownReply & { next: Tier }) {
  const button = reveal(card, ".ask-next");
  button.textContent = `Ask ${next} as well`;
  button.addEventListener("click", () => {
    button.hidden = true;
    void showSecond(card, { message, first: decision.tierUsed ?? "", next });
  });
}

interface Second {
  readonly message: string;
  readonly first: string;
  readonly next: Tier;
}

/** Puts the next tier's reply beside the first one. */
async function showSecond(card: HTMLElement, { message, first, next }: Second): Promise<void> {
  const reply = partOf(card, ".reply");
  const pair = document.createElement("div");
  pair.className = "pair";
  reply.replaceWith(pair);
  const [left, right] = [columnOf(first), columnOf(next)];
  left.append(reply);
  const second = copyOf("second");
  right.append(second);
  pair.append(left, right);
  announce(`${next} is asked as well`);
  const view = createReplyView(second);
  for await (const event of askTier(message, next)) {
    if (event.name === "reply") view.add(event.data.delta);
    else reveal(second, ".reply-error").append(event.data.error);
  }
  view.finish();
  partOf(second, ".pending").remove();
  announce(`${next} says: ${view.text()}`);
}

function columnOf(tier: string): HTMLElement {
  const column = document.createElement("div");
  const name = document.createElement("p");
  name.className = "by";
  name.dataset["tier"] = tier;
  name.textContent = tier;
  column.append(name);
  return column;
}

function offerFeedback(
  bar: HTMLElement,
  { requestId, tierUsed }: { requestId: string; tierUsed: Tier },
): void {
  const index = tiers.indexOf(tierUsed);
  const offers = [
    [".was-too-high", tiers[index - 1]],
    [".was-too-low", tiers[index + 1]],
  ] as const;
  for (const [selector, tier] of offers) {
    if (tier === undefined) continue;
    reveal(bar, selector).addEventListener(
      "click",
      () => void sendFeedback(bar, { requestId, tier }),
    );
  }
}

async function sendFeedback(
  bar: HTMLElement,
  feedback: { requestId: string; tier: Tier },
): Promise<void> {
  const said = reveal(bar, ".said");
  try {
    const response = await fetch("/feedback", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(feedback),
    });
    const problem = response.ok ? null : ((await response.json()) as { error: string }).error;
    said.textContent = problem ?? `Noted: ${feedback.tier} would have been right.`;
  } catch {
    said.textContent = "The router cannot be reached; nothing was noted.";
  }
  announce(said.textContent);
}
