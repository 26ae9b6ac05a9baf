import { Parser } from "htmlparser2";
import {
  fontSize,
  hidesElement,
  isDotSize,
  isSameColour,
  isZeroSize,
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
const inlineNames =
  "a abbr acronym b bdi bdo big cite code del dfn em font i ins kbd mark q s samp small span strike strong sub sup time tt u var wbr";
const inlineTags = new Set(inlineNames.split(" "));
const tagPattern =
  /<\/?(?:a|b|body|br|center|div|font|head|html|img|li|p|span|style|table|tbody|td|tr|ul)\b[^<>]{0,1000}>/gi;
// Chosen, not measured: a person may write of one tag or two.
const TAGS_OF_MARKUP = 3;

/** Returns the text that a reader of a plain text sees, which may be HTML. */
export function visiblePlainText(plainText: string): string {
  const trimmedText = plainText.trim();
  if (hasMarkup(trimmedText)) return toVisibleText(trimmedText);
  return withoutPadding(trimmedText.slice(0, 1000)).trim() === ""
    ? withoutPadding(trimmedText.slice(0, 20_000)).trim()
    : trimmedText;
}

const blankRuns = /\s{2,}|[^\S ]/gu;
const unseenCharacter = /[\p{Default_Ignorable_Code_Point}\u2800]/u;
/** Blanks of several scripts, and characters that no reader sees. */
const paddingRuns = /[\s\p{Default_Ignorable_Code_Point}\u2800]{1,1000}/gu;

/** Returns a text with one space for each run of blanks, and without characters that only take room. */
export function withoutPadding(paddedText: string): string {
  const spacedText = paddedText.replace(blankRuns, " ");
  if (!unseenCharacter.test(spacedText)) return spacedText;
  return spacedText.replace(paddingRuns, (paddingText) => {
    if (/[\s\u2800\u3164\u115f\u1160\uffa0]/u.test(paddingText)) return " ";
    // A joiner in a word, or one with the form of an emoji.
    return paddingText.length <= 2 ? paddingText : "";
  });
}

/** Returns whether text that claims to be plain is HTML. */
function hasMarkup(plainText: string): boolean {
  const startText = plainText.slice(0, TEXT_LENGTH);
  if (/^(?:<!doctype html|<html|<\?xml[^<>]{0,200}>\s{0,10}<)/i.test(startText)) return true;
  let tagCount = 0;
  for (const _ of startText.matchAll(tagPattern))
    if ((tagCount += 1) === TAGS_OF_MARKUP) return true;
  return false;
}

/** Returns the text that a reader of HTML sees, and the `alt` of its images. */
export function toVisibleText(htmlText: string): string {
  let visibleText = "";
  let imageCount = 0;
  let isTooDeep = false;
  const openElements: OpenElement[] = [];
  const pageStyles = new PageStyles();
  let sheetText = "";
  const htmlParser = new Parser({
    onopentag(tagName, attributes) {
      const parentElement = openElements.at(-1) ?? pageElement;
      const element = openElementIn(parentElement, pageStyles.styleOf(tagName, attributes), {
        tagName,
        attributes,
      });
      if (openElements.push(element) >= MOST_OPEN) isTooDeep = true;
      if (!inlineTags.has(tagName)) visibleText += " ";
      if (tagName !== "img" || element.isHidden || isTracker(attributes)) return;
      imageCount += 1;
      visibleText += ` ${attributes["alt"] ?? ""} `;
    },
    onclosetag(tagName) {
      openElements.pop();
      if (tagName === "style") pageStyles.addSheet(sheetText);
      if (tagName === "style") sheetText = "";
      if (!inlineTags.has(tagName)) visibleText += " ";
    },
    ontext(textPiece) {
      const parentElement = openElements.at(-1) ?? pageElement;
      if (parentElement.tagName === "style") sheetText += textPiece;
      else if (isSeenText(parentElement, pageStyles)) visibleText += textPiece;
    },
  });
  // In pieces, so that the rest of a long page is not read.
  for (
    let position = 0;
    position < Math.min(htmlText.length, READ_LENGTH);
    position += PIECE_LENGTH
  ) {
    htmlParser.write(htmlText.slice(position, position + PIECE_LENGTH));
    if (isTooDeep) return withoutTags(htmlText.slice(0, READ_LENGTH));
    if (visibleText.length < TEXT_LENGTH) continue;
    visibleText = withoutPadding(visibleText);
    if (visibleText.length >= TEXT_LENGTH * 0.7) break;
  }
  htmlParser.end();
  const trimmedText = withoutPadding(visibleText).trim();
  return trimmedText === "" && imageCount > 0 ? "(This mail shows images alone.)" : trimmedText;
}

// Includes hidden text, so that it is never empty.
function withoutTags(htmlText: string): string {
  return htmlText
    .replace(/<[^<>]{0,1000}>/g, " ")
    .replace(/\s+/gu, " ")
    .trim();
}

interface OpenElement {
  readonly tagName: string;
  /** Whether it and all in it is hidden. */
  readonly isHidden: boolean;
  /** Whether its own text has no size; an element in it may have one again. */
  readonly hasNoSize: boolean;
  /** The colour of its text, and the one behind it; undefined if not known. */
  readonly textColour: string | undefined;
  readonly background: string | undefined;
}

const pageElement: OpenElement = {
  tagName: "",
  isHidden: false,
  hasNoSize: false,
  textColour: "0,0,0",
  background: "255,255,255",
};

function openElementIn(
  parentElement: OpenElement,
  elementStyle: Style,
  {
    tagName,
    attributes,
  }: Readonly<{ tagName: string; attributes: Readonly<Record<string, string>> }>,
): OpenElement {
  const isHidden =
    parentElement.isHidden ||
    unseenTags.has(tagName) ||
    attributes["hidden"] !== undefined ||
    hidesElement(elementStyle);
  const textSize = fontSize(elementStyle);
  const hasNoSize = textSize === undefined ? parentElement.hasNoSize : isDotSize(textSize);
  const background = findBackground(elementStyle, attributes);
  const colorName = tagName === "body" ? attributes["text"] : attributes["color"];
  const colourText = elementStyle.get("color") ?? colorName?.toLowerCase();
  return {
    tagName,
    isHidden,
    hasNoSize,
    // A link has another colour than the text around it.
    textColour:
      colourText === undefined && tagName !== "a"
        ? parentElement.textColour
        : parseColour(colourText),
    background: background === undefined ? parentElement.background : parseColour(background),
  };
}

function findBackground(
  elementStyle: Style,
  attributes: Readonly<Record<string, string>>,
): string | undefined {
  // A picture may be of any colour.
  if (
    [elementStyle.get("background-image"), attributes["background"]].some(
      (image) => image !== undefined,
    )
  )
    return "";
  const ownBackground =
    elementStyle.get("background") ?? elementStyle.get("background-color") ?? attributes["bgcolor"];
  return /^(?:transparent|none|inherit)$/.test(ownBackground ?? "")
    ? undefined
    : ownBackground?.toLowerCase();
}

// White on white is for programs that sort mail.
function isSeenText(
  { isHidden, hasNoSize, textColour, background }: OpenElement,
  pageStyles: PageStyles,
): boolean {
  if (isHidden || hasNoSize || textColour === "transparent") return false;
  return (
    textColour === undefined ||
    pageStyles.hasOtherBackgrounds ||
    !isSameColour(textColour, background)
  );
}

// An image of one pixel tracks the reader and shows nothing.
function isTracker({ width = "", height = "" }: Readonly<Record<string, string>>): boolean {
  return [width, height].some(
    (cssSize) => isZeroSize(cssSize) || /^1(?:px)?$/.test(cssSize.trim()),
  );
}
