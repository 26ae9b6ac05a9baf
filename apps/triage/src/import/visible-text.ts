import { Parser } from "htmlparser2";
import type { Email } from "postal-mime";

/** How much text is wanted; a snippet takes less. */
const TEXT_LENGTH = 10_000;
const READ_LENGTH = 500_000;
const PIECE_LENGTH = 2000;
/** Deeper pages are made to slow parsers down: each closing tag looks through all that are open. */
const MOST_OPEN = 500;

const unseenTags = new Set("head noscript object script style svg template title".split(" "));
const inline =
  "a abbr acronym b bdi bdo big cite code del dfn em font i ins kbd mark q s samp small span strike strong sub sup time tt u var wbr";
const inlineTags = new Set(inline.split(" "));
const tag =
  /<\/?(?:a|b|body|br|center|div|font|head|html|img|li|p|span|style|table|tbody|td|tr|ul)\b[^<>]{0,1000}>/gi;
// Chosen, not measured: a person may write of one tag or two.
const TAGS_OF_MARKUP = 3;

/** Returns the text that a reader of a mail sees: of its plain part, else of its HTML. */
export function toVisibleText({ text = "", html = "" }: Pick<Email, "text" | "html">): string {
  const plain = text.trim();
  if (plain === "") return htmlToVisibleText(html);
  return hasMarkup(plain) ? htmlToVisibleText(plain) : plain;
}

/** Returns whether text that claims to be plain is HTML. */
function hasMarkup(text: string): boolean {
  const start = text.slice(0, TEXT_LENGTH);
  if (/^(?:<!doctype html|<html|<\?xml[^<>]{0,200}>\s{0,10}<)/i.test(start)) return true;
  let tags = 0;
  for (const _ of start.matchAll(tag)) if ((tags += 1) === TAGS_OF_MARKUP) return true;
  return false;
}

/** Returns the text that a reader of HTML sees, and the `alt` of its images. */
function htmlToVisibleText(html: string): string {
  let text = "";
  let images = 0;
  let isTooDeep = false;
  const open: OpenElement[] = [];
  const parser = new Parser({
    onopentag(name, attributes) {
      const element = openIn(open.at(-1), name, attributes);
      if (open.push(element) >= MOST_OPEN) isTooDeep = true;
      if (!inlineTags.has(name)) text += " ";
      if (name !== "img" || element.isHidden || isDot(attributes)) return;
      images += 1;
      text += ` ${attributes["alt"] ?? ""} `;
    },
    onclosetag(name) {
      open.pop();
      if (!inlineTags.has(name)) text += " ";
    },
    ontext(piece) {
      const parent = open.at(-1);
      if (parent?.isHidden !== true && parent?.hasNoSize !== true) text += piece;
    },
  });
  // In pieces, so that the rest of a long page is not read.
  for (let at = 0; at < Math.min(html.length, READ_LENGTH); at += PIECE_LENGTH) {
    parser.write(html.slice(at, at + PIECE_LENGTH));
    if (isTooDeep) return withoutTags(html.slice(0, READ_LENGTH));
    if (text.length >= TEXT_LENGTH) break;
  }
  parser.end();
  const visible = text.replace(/\s+/gu, " ").trim();
  return visible === "" && images > 0 ? "(This mail shows images alone.)" : visible;
}

// Includes hidden text, so that it is never empty.
function withoutTags(html: string): string {
  return html
    .replace(/<[^<>]{0,1000}>/g, " ")
    .replace(/\s+/gu, " ")
    .trim();
}

interface OpenElement {
  /** Whether it and all in it is hidden. */
  readonly isHidden: boolean;
  /** Whether its own text has no size; an element in it may have one again. */
  readonly hasNoSize: boolean;
}

function openIn(
  parent: OpenElement | undefined,
  name: string,
  attributes: Readonly<Record<string, string>>,
): OpenElement {
  const style = styleOf(attributes["style"] ?? "");
  const isHidden =
    parent?.isHidden === true ||
    unseenTags.has(name) ||
    attributes["hidden"] !== undefined ||
    hides(style);
  const size = style.get("font-size");
  return { isHidden, hasNoSize: size === undefined ? parent?.hasNoSize === true : isZero(size) };
}

// An image of one pixel tracks the reader and shows nothing.
function isDot({ width = "", height = "" }: Readonly<Record<string, string>>): boolean {
  return [width, height].some((size) => isZero(size) || /^1(?:px)?$/.test(size.trim()));
}

function styleOf(style: string): Map<string, string> {
  const declarations = style.slice(0, 2000).toLowerCase().split(";");
  return new Map(
    declarations.map((declaration) => {
      const [name = "", value = ""] = declaration.split(":", 2);
      return [name.trim(), value.replace("!important", "").trim()];
    }),
  );
}

function hides(style: ReadonlyMap<string, string>): boolean {
  if (style.get("display") === "none" || style.get("visibility") === "hidden") return true;
  if (style.get("mso-hide") === "all" || isZero(style.get("opacity"))) return true;
  if (isZero(style.get("max-height")) || isZero(style.get("max-width"))) return true;
  const isClipped = style.get("overflow") === "hidden";
  return isClipped && (isZero(style.get("height")) || isZero(style.get("width")));
}

function isZero(size: string | undefined): boolean {
  return size !== undefined && /^0(?:\.0{1,10})?(?:px|pt|em|rem|ex|ch|%|vh|vw)?$/.test(size.trim());
}
