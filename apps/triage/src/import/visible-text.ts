import { Parser } from "htmlparser2";
import {
  fontSize,
  hides,
  isDot,
  isSameColour,
  isZero,
  PageStyles,
  parseColour,
  type Style,
} from "./page-styles.ts";

/** How much text is wanted; a snippet takes less. */
const TEXT_LENGTH = 3000;
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

/** Returns the text that a reader of a plain text sees, which may be HTML. */
export function visiblePlainText(text: string): string {
  const plain = text.trim();
  if (hasMarkup(plain)) return toVisibleText(plain);
  return withoutPadding(plain.slice(0, 1000)).trim() === ""
    ? withoutPadding(plain.slice(0, 20_000)).trim()
    : plain;
}

const blanks = /\s{2,}|[^\S ]/gu;
const unseen = /[\p{Default_Ignorable_Code_Point}\u2800]/u;
/** Blanks of several scripts, and characters that no reader sees. */
const padding = /[\s\p{Default_Ignorable_Code_Point}\u2800]{1,1000}/gu;

/** Returns a text with one space for each run of blanks, and without characters that only take room. */
export function withoutPadding(text: string): string {
  const words = text.replace(blanks, " ");
  if (!unseen.test(words)) return words;
  return words.replace(padding, (run) => {
    if (/[\s\u2800\u3164\u115f\u1160\uffa0]/u.test(run)) return " ";
    // A joiner in a word, or one with the form of an emoji.
    return run.length <= 2 ? run : "";
  });
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
export function toVisibleText(html: string): string {
  let text = "";
  let images = 0;
  let isTooDeep = false;
  const open: OpenElement[] = [];
  const styles = new PageStyles();
  let sheet = "";
  const parser = new Parser({
    onopentag(name, attributes) {
      const parent = open.at(-1) ?? page;
      const element = openIn(parent, styles.styleOf(name, attributes), { name, attributes });
      if (open.push(element) >= MOST_OPEN) isTooDeep = true;
      if (!inlineTags.has(name)) text += " ";
      if (name !== "img" || element.isHidden || isTracker(attributes)) return;
      images += 1;
      text += ` ${attributes["alt"] ?? ""} `;
    },
    onclosetag(name) {
      open.pop();
      if (name === "style") styles.add(sheet);
      if (name === "style") sheet = "";
      if (!inlineTags.has(name)) text += " ";
    },
    ontext(piece) {
      const parent = open.at(-1) ?? page;
      if (parent.name === "style") sheet += piece;
      else if (isSeen(parent, styles)) text += piece;
    },
  });
  // In pieces, so that the rest of a long page is not read.
  for (let at = 0; at < Math.min(html.length, READ_LENGTH); at += PIECE_LENGTH) {
    parser.write(html.slice(at, at + PIECE_LENGTH));
    if (isTooDeep) return withoutTags(html.slice(0, READ_LENGTH));
    if (text.length < TEXT_LENGTH) continue;
    text = withoutPadding(text);
    if (text.length >= TEXT_LENGTH * 0.7) break;
  }
  parser.end();
  const visible = withoutPadding(text).trim();
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
  readonly name: string;
  /** Whether it and all in it is hidden. */
  readonly isHidden: boolean;
  /** Whether its own text has no size; an element in it may have one again. */
  readonly hasNoSize: boolean;
  /** The colour of its text, and the one behind it; undefined if not known. */
  readonly colour: string | undefined;
  readonly background: string | undefined;
}

const page: OpenElement = {
  name: "",
  isHidden: false,
  hasNoSize: false,
  colour: "0,0,0",
  background: "255,255,255",
};

function openIn(
  parent: OpenElement,
  style: Style,
  { name, attributes }: Readonly<{ name: string; attributes: Readonly<Record<string, string>> }>,
): OpenElement {
  const isHidden =
    parent.isHidden || unseenTags.has(name) || attributes["hidden"] !== undefined || hides(style);
  const size = fontSize(style);
  const hasNoSize = size === undefined ? parent.hasNoSize : isDot(size);
  const background = findBackground(style, attributes);
  const colorName = name === "body" ? attributes["text"] : attributes["color"];
  const colour = style.get("color") ?? colorName?.toLowerCase();
  return {
    name,
    isHidden,
    hasNoSize,
    // A link has another colour than the text around it.
    colour: colour === undefined && name !== "a" ? parent.colour : parseColour(colour),
    background: background === undefined ? parent.background : parseColour(background),
  };
}

function findBackground(
  style: Style,
  attributes: Readonly<Record<string, string>>,
): string | undefined {
  // A picture may be of any colour.
  if (
    [style.get("background-image"), attributes["background"]].some((image) => image !== undefined)
  )
    return "";
  const own = style.get("background") ?? style.get("background-color") ?? attributes["bgcolor"];
  return /^(?:transparent|none|inherit)$/.test(own ?? "") ? undefined : own?.toLowerCase();
}

// White on white is for programs that sort mail.
function isSeen(
  { isHidden, hasNoSize, colour, background }: OpenElement,
  styles: PageStyles,
): boolean {
  if (isHidden || hasNoSize || colour === "transparent") return false;
  return colour === undefined || styles.hasOtherBackgrounds || !isSameColour(colour, background);
}

// An image of one pixel tracks the reader and shows nothing.
function isTracker({ width = "", height = "" }: Readonly<Record<string, string>>): boolean {
  return [width, height].some((size) => isZero(size) || /^1(?:px)?$/.test(size.trim()));
}
