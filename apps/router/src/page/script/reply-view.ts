import MarkdownIt from "markdown-it";
import type { Tier } from "../../decision/tier-question.ts";
import { ask, post, tiers } from "./router.ts";
import { announce, toCopy, copyOnClick, toPart, reveal } from "./elements.ts";
import type { PastMessage } from "./session.ts";

/** Shows a streamed reply in a card, drawn at most once a frame. */
export function createReplyView(card: HTMLElement) {
  let text = "";
  let frame: number | null = null;
  const draw = () => {
    frame = null;
    if (text === "") return;
    const fragment = document.createDocumentFragment();
    appendTokens(fragment, parser.parse(text, {}));
    reveal(card, ".reply").replaceChildren(fragment);
  };
  return {
    add(delta: string) {
      text += delta;
      frame ??= requestAnimationFrame(draw);
    },
    text: () => text,
    /** Draws the text so far, now. */
    finish() {
      if (frame !== null) cancelAnimationFrame(frame);
      draw();
    },
    /** Shows the buttons of a whole reply: copy it, ask the next tier too, give feedback. */
    showActions: (pastMessage: PastMessage) => showActions(card, pastMessage),
  };
}

const parser = new MarkdownIt({ html: false });

type Token = ReturnType<typeof parser.parse>[number];

/**
 * Adds Markdown as elements that only format text. They are made from the parsed tokens, so no HTML of
 * a reply is used, no image is loaded, and a link is its address.
 */
function appendTokens(parent: Element | DocumentFragment, tokens: readonly Token[]): void {
  const open = [parent];
  for (const token of tokens) {
    const current = open.at(-1) ?? parent;
    if (token.nesting > 0) open.push(openElement(current, token));
    else if (token.nesting < 0) closeElement(open.pop());
    else if (token.type === "inline") appendTokens(current, token.children ?? []);
    else current.append(toLeaf(token));
  }
}

// Headings of a reply are below the card's own heading.
const tags: ReadonlyMap<string, string> = new Map(
  ["h3", "h4", "h5", "h6", "h6", "h6"].map((tag, at) => [`h${at + 1}`, tag] as const),
);
const shapes = new Set(
  "p ul ol li blockquote table thead tbody tr th td strong em s h3 h4 h5 h6".split(" "),
);

/** A paragraph of a tight list is hidden: its text belongs to the item. */
function openElement(parent: Element | DocumentFragment, token: Token): Element | DocumentFragment {
  if (token.hidden) return parent;
  const tag = tags.get(token.tag) ?? token.tag;
  const element = document.createElement(shapes.has(tag) ? tag : "span");
  const start = token.attrGet("start");
  if (tag === "ol" && start !== null) element.setAttribute("start", String(start));
  const align = /^text-align:(\w+)$/.exec(String(token.attrGet("style") ?? ""))?.[1];
  if (align !== undefined) element.dataset["align"] = align;
  const address = token.attrGet("href");
  if (address !== null) element.dataset["address"] = String(address);
  parent.append(element);
  if (tag !== "table") return element;
  const scroller = document.createElement("div"); // also with the keyboard
  scroller.className = "scroller";
  Object.assign(scroller, { tabIndex: 0, role: "group", ariaLabel: "Table" });
  element.replaceWith(scroller);
  scroller.append(element);
  return element;
}

function closeElement(element: Element | DocumentFragment | undefined): void {
  if (!(element instanceof HTMLElement)) return;
  const { address } = element.dataset;
  if (address !== undefined && element.textContent !== address) element.append(` (${address})`);
}

function toLeaf(token: Token): Node | string {
  switch (token.type) {
    case "softbreak":
      return "\n";
    case "hardbreak":
      return document.createElement("br");
    case "hr":
      return document.createElement("hr");
    case "code_inline":
      return Object.assign(document.createElement("code"), { textContent: token.content });
    case "fence":
    case "code_block":
      return codeBlock(token.content);
    case "image":
      return `[image: ${token.content}] (${token.attrGet("src") ?? ""})`;
    default:
      return token.content;
  }
}

function codeBlock(text: string): HTMLElement {
  const block = toCopy("code");
  toPart(block, "code").textContent = text;
  copyOnClick(toPart(block, ".copy"), () => text);
  return block;
}

function showActions(card: HTMLElement, pastMessage: PastMessage): void {
  const { message, decision, text, requestId } = pastMessage;
  const { tierUsed } = decision;
  const bar = reveal(card, ".reply-actions");
  copyOnClick(toPart(bar, ".copy-reply"), () => text);
  const at = tiers.indexOf(tierUsed ?? "frontier");
  const [lower, higher] = [tiers[at - 1], tiers[at + 1]];
  if (higher !== undefined) {
    const button = reveal(card, ".ask-next");
    button.textContent = `Ask ${higher} as well`;
    button.addEventListener("click", () => {
      button.hidden = true;
      void showSecond(card, message, [tierUsed ?? "", higher]);
    });
  }
  if (!("feedback" in document.body.dataset) || requestId === null || tierUsed === null) return;
  const offerFeedback = (selector: string, tier: Tier) =>
    reveal(bar, selector).addEventListener("click", () => void sendFeedback(bar, requestId, tier));
  if (lower !== undefined) offerFeedback(".was-too-high", lower);
  if (higher !== undefined) offerFeedback(".was-too-low", higher);
}

/** Puts the next tier's reply beside the first one. */
async function showSecond(card: HTMLElement, message: string, tiers: [string, Tier]) {
  const [, next] = tiers;
  const reply = toPart(card, ".reply");
  const pair = toCopy("pair");
  reply.replaceWith(pair);
  toPart(pair, ".first").append(reply);
  for (const [at, name] of pair.querySelectorAll<HTMLElement>(".by").entries()) {
    name.dataset["tier"] = tiers[at];
    name.textContent = tiers[at] ?? "";
  }
  const second = toPart(pair, ".second");
  announce(`${next} is asked as well`);
  const view = createReplyView(second);
  for await (const { name, data } of ask(message, { tier: next })) {
    if (name === "reply") view.add(data.delta);
    if (name === "error") reveal(second, ".reply-error").append(data.error);
  }
  view.finish();
  toPart(second, ".pending").remove();
  announce(`${next} says: ${view.text()}`);
}

async function sendFeedback(bar: HTMLElement, requestId: string, tier: Tier): Promise<void> {
  const outcome = reveal(bar, ".said");
  try {
    const response = await post("/feedback", { requestId, tier });
    const problem = response.ok ? null : ((await response.json()) as { error: string }).error;
    outcome.textContent = problem ?? `Noted: ${tier} would have been right.`;
  } catch {
    outcome.textContent = "The router cannot be reached; nothing was noted.";
  }
  announce(outcome.textContent);
}
