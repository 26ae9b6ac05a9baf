import MarkdownIt from "markdown-it";
import { copyOnClick, reveal } from "./elements.ts";

/** Shows a reply in a card as it comes, drawn at most once a frame. */
export function createReplyView(card: HTMLElement) {
  let text = "";
  let frame: number | null = null;
  const draw = () => {
    frame = null;
    if (text !== "") reveal(card, ".reply").replaceChildren(renderMarkdown(text));
  };
  return {
    add(delta: string) {
      text += delta;
      frame ??= requestAnimationFrame(draw);
    },
    /** Returns what has come so far. */
    text: () => text,
    /** Draws what has come so far, now. */
    finish() {
      if (frame !== null) cancelAnimationFrame(frame);
      draw();
    },
  };
}

const parser = new MarkdownIt({ html: false });

type Token = ReturnType<typeof parser.parse>[number];

/**
 * A reply's Markdown as elements that only shape text. The elements are made one by one from the
 * parsed tokens: there is no HTML to get past, no image is loaded, and a link is its address.
 */
function renderMarkdown(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  appendTokens(fragment, parser.parse(text, {}));
  return fragment;
}

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

// Headings of a reply stand below the card's own.
const tags: Readonly<Record<string, string>> = {
  h1: "h3",
  h2: "h4",
  h3: "h5",
  h4: "h6",
  h5: "h6",
  h6: "h6",
};
const shapes = new Set(
  "p ul ol li blockquote table thead tbody tr th td strong em s h3 h4 h5 h6".split(" "),
);

/** A paragraph of a tight list is hidden: its text belongs to the item. */
function openElement(parent: Element | DocumentFragment, token: Token): Element | DocumentFragment {
  if (token.hidden) return parent;
  const tag = tags[token.tag] ?? token.tag;
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

/** What is wider than the card is scrolled, with the keyboard as well. */
function scrollerOf(element: Element): HTMLElement {
  const scroller = document.createElement("div");
  scroller.className = "scroller";
  scroller.tabIndex = 0;
  scroller.append(element);
  return scroller;
}
