import MarkdownIt from "markdown-it";
import type { Decision } from "../../decision/decision.ts";
import type { Tier } from "../../decision/tier-question.ts";
import { askTier, tiers } from "./router.ts";
import { announce, copyOf, copyOnClick, partOf, reveal } from "./elements.ts";

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
    else current.append(leafOf(token));
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
  parent.append(tag === "table" ? scrollerOf(element) : element);
  return element;
}

function closeElement(element: Element | DocumentFragment | undefined): void {
  if (!(element instanceof HTMLElement)) return;
  const { address } = element.dataset;
  if (address !== undefined && element.textContent !== address) element.append(` (${address})`);
}

function leafOf(token: Token): Node | string {
  switch (token.type) {
    case "softbreak":
      return "\n";
    case "hardbreak":
      return document.createElement("br");
    case "hr":
      return document.createElement("hr");
    case "code_inline":
      return codeOf(token.content);
    case "fence":
    case "code_block":
      return blockOf(token.content);
    case "image":
      return `[image: ${token.content}] (${token.attrGet("src") ?? ""})`;
    default:
      return token.content;
  }
}

function codeOf(text: string): HTMLElement {
  const code = document.createElement("code");
  code.textContent = text;
  return code;
}

function blockOf(text: string): HTMLElement {
  const block = document.createElement("pre");
  block.append(codeOf(text));
  const frame = document.createElement("div");
  frame.className = "code";
  const copy = document.createElement("button");
  copy.type = "button";
  copy.className = "copy";
  copy.ariaLabel = "Copy the code";
  copyOnClick(copy, () => text);
  frame.append(scrollerOf(block), copy);
  return frame;
}

/** Scrolls a wide element, also with the keyboard. */
function scrollerOf(element: Element): HTMLElement {
  const scroller = document.createElement("div");
  scroller.className = "scroller";
  scroller.tabIndex = 0;
  scroller.append(element);
  return scroller;
}

/** A finished reply. */
interface ShownReply {
  readonly message: string;
  readonly decision: Decision;
  readonly text: string;
  /** Identifies the message for feedback. */
  readonly requestId: string | null;
}

/** Shows the buttons of a reply: copy it, ask the next tier too, give feedback. */
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
    void showSecond(card, message, [decision.tierUsed ?? "", next]);
  });
}

/** Puts the next tier's reply beside the first one. */
async function showSecond(card: HTMLElement, message: string, [first, next]: [string, Tier]) {
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
