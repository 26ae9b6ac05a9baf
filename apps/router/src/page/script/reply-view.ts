import MarkdownIt from "markdown-it";
import type { Tier } from "../../decision/tier-question.ts";
import { ask, post, tiers } from "./router.ts";
import { announce, toCopy, copyOnClick, toPart, reveal } from "./elements.ts";
import type { PastMessage } from "./session.ts";

/** Shows a streamed reply in a card, drawn at most once a frame. */
export function createReplyView(messageCard: HTMLElement) {
  let replyText = "";
  let frameRequest: number | null = null;
  const drawReply = () => {
    frameRequest = null;
    if (replyText === "") return;
    const replyFragment = document.createDocumentFragment();
    appendTokens(replyFragment, parser.parse(replyText, {}));
    reveal(messageCard, ".reply").replaceChildren(replyFragment);
  };
  return {
    add(textDelta: string) {
      replyText += textDelta;
      frameRequest ??= requestAnimationFrame(drawReply);
    },
    text: () => replyText,
    /** Draws the text so far, now. */
    finish() {
      if (frameRequest !== null) cancelAnimationFrame(frameRequest);
      drawReply();
    },
    /** Shows the buttons of a whole reply: copy it, ask the next tier too, give feedback. */
    showActions: (pastMessage: PastMessage) => showActions(messageCard, pastMessage),
  };
}

const parser = new MarkdownIt({ html: false });

type Token = ReturnType<typeof parser.parse>[number];

/**
 * Adds Markdown as elements that only format text. They are made from the parsed tokens, so no HTML of
 * a reply is used, no image is loaded, and a link is its address.
 */
function appendTokens(parentNode: Element | DocumentFragment, nodeTokens: readonly Token[]): void {
  const openElements = [parentNode];
  for (const nodeToken of nodeTokens) {
    const currentElement = openElements.at(-1) ?? parentNode;
    if (nodeToken.nesting > 0) openElements.push(openElement(currentElement, nodeToken));
    else if (nodeToken.nesting < 0) closeElement(openElements.pop());
    else if (nodeToken.type === "inline") appendTokens(currentElement, nodeToken.children ?? []);
    else currentElement.append(toLeaf(nodeToken));
  }
}

// Headings of a reply are below the card's own heading.
const headingTags: ReadonlyMap<string, string> = new Map(
  ["h3", "h4", "h5", "h6", "h6", "h6"].map((headingTag, at) => [`h${at + 1}`, headingTag] as const),
);
const allowedTags = new Set(
  "p ul ol li blockquote table thead tbody tr th td strong em s h3 h4 h5 h6".split(" "),
);

/** A paragraph of a tight list is hidden: its text belongs to the item. */
function openElement(parent: Element | DocumentFragment, token: Token): Element | DocumentFragment {
  if (token.hidden) return parent;
  const tagName = headingTags.get(token.tag) ?? token.tag;
  const newElement = document.createElement(allowedTags.has(tagName) ? tagName : "span");
  const start = token.attrGet("start");
  if (tagName === "ol" && start !== null) newElement.setAttribute("start", String(start));
  const textAlign = /^text-align:(\w+)$/.exec(String(token.attrGet("style") ?? ""))?.[1];
  if (textAlign !== undefined) newElement.dataset["align"] = textAlign;
  const linkAddress = token.attrGet("href");
  if (linkAddress !== null) newElement.dataset["address"] = String(linkAddress);
  parent.append(newElement);
  if (tagName !== "table") return newElement;
  const tableScroller = document.createElement("div"); // also with the keyboard
  tableScroller.className = "scroller";
  Object.assign(tableScroller, { tabIndex: 0, role: "group", ariaLabel: "Table" });
  newElement.replaceWith(tableScroller);
  tableScroller.append(newElement);
  return newElement;
}

function closeElement(element: Element | DocumentFragment | undefined): void {
  if (!(element instanceof HTMLElement)) return;
  const { address } = element.dataset;
  if (address !== undefined && element.textContent !== address) element.append(` (${address})`);
}

function toLeaf(leafToken: Token): Node | string {
  switch (leafToken.type) {
    case "softbreak":
      return "\n";
    case "hardbreak":
      return document.createElement("br");
    case "hr":
      return document.createElement("hr");
    case "code_inline":
      return Object.assign(document.createElement("code"), { textContent: leafToken.content });
    case "fence":
    case "code_block":
      return codeBlock(leafToken.content);
    case "image":
      return `[image: ${leafToken.content}] (${leafToken.attrGet("src") ?? ""})`;
    default:
      return leafToken.content;
  }
}

function codeBlock(codeText: string): HTMLElement {
  const codeElement = toCopy("code");
  toPart(codeElement, "code").textContent = codeText;
  copyOnClick(toPart(codeElement, ".copy"), () => codeText);
  return codeElement;
}

function showActions(messageCard: HTMLElement, pastMessage: PastMessage): void {
  const { message, decision, text, requestId } = pastMessage;
  const { tierUsed } = decision;
  const bar = reveal(messageCard, ".reply-actions");
  copyOnClick(toPart(bar, ".copy-reply"), () => text);
  const tierIndex = tiers.indexOf(tierUsed ?? "frontier");
  const [lowerTier, higherTier] = [tiers[tierIndex - 1], tiers[tierIndex + 1]];
  if (higherTier !== undefined) {
    const askButton = reveal(messageCard, ".ask-next");
    askButton.textContent = `Ask ${higherTier} as well`;
    askButton.addEventListener("click", () => {
      askButton.hidden = true;
      void showSecond(messageCard, message, [tierUsed ?? "", higherTier]);
    });
  }
  if (!("feedback" in document.body.dataset) || requestId === null || tierUsed === null) return;
  const offerFeedback = (selector: string, tier: Tier) =>
    reveal(bar, selector).addEventListener("click", () => void sendFeedback(bar, requestId, tier));
  if (lowerTier !== undefined) offerFeedback(".was-too-high", lowerTier);
  if (higherTier !== undefined) offerFeedback(".was-too-low", higherTier);
}

/** Puts the next tier's reply beside the first one. */
async function showSecond(messageCard: HTMLElement, message: string, tiers: [string, Tier]) {
  const [, nextTier] = tiers;
  const replyElement = toPart(messageCard, ".reply");
  const pairElement = toCopy("pair");
  replyElement.replaceWith(pairElement);
  toPart(pairElement, ".first").append(replyElement);
  for (const [replyIndex, name] of pairElement.querySelectorAll<HTMLElement>(".by").entries()) {
    name.dataset["tier"] = tiers[replyIndex];
    name.textContent = tiers[replyIndex] ?? "";
  }
  const secondReply = toPart(pairElement, ".second");
  announce(`${nextTier} is asked as well`);
  const replyView = createReplyView(secondReply);
  for await (const { name, data } of ask(message, { tier: nextTier })) {
    if (name === "reply") replyView.add(data.delta);
    if (name === "error") reveal(secondReply, ".reply-error").append(data.error);
  }
  replyView.finish();
  toPart(secondReply, ".pending").remove();
  announce(`${nextTier} says: ${replyView.text()}`);
}

async function sendFeedback(actionBar: HTMLElement, requestId: string, tier: Tier): Promise<void> {
  const outcomeElement = reveal(actionBar, ".said");
  try {
    const response = await post("/feedback", { requestId, tier });
    const problem = response.ok ? null : ((await response.json()) as { error: string }).error;
    outcomeElement.textContent = problem ?? `Noted: ${tier} would have been right.`;
  } catch {
    outcomeElement.textContent = "The router cannot be reached; nothing was noted.";
  }
  announce(outcomeElement.textContent);
}
