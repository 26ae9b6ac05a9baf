// oxlint-disable no-control-regex -- control characters are what this file is about
import { createRequire } from "node:module";
import type stringWidth from "string-width";

// One column a character, and nothing to clean.
const printableAscii = /^[ -~]*$/;
// Own, because `util.stripVTControlCharacters` takes quadratic time on rows of unfinished escapes.
const terminalEscape =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]*[0-~])|\u009b[0-?]*[ -/]*[@-~]/g;
// The two joiners stay: emoji families and several scripts are written with them.
const unprintable = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}]/gu;
let segmenter: Intl.Segmenter | undefined;

/**
 * Returns text that is safe to print on one line: without terminal escapes, control characters,
 * bidi marks and line breaks, every run of white space as one space.
 */
export function toPrintable(text: string): string {
  if (printableAscii.test(text)) return text.replace(/ {2,}/g, " ").trim();
  return stripEscapes(text).replace(/\s+/gu, " ").replace(unprintable, "").trim();
}

/** Returns a path, id or name for one printed line; spaces are kept. */
export function toPrintablePath(path: string): string {
  if (printableAscii.test(path)) return path;
  return stripEscapes(path).replace(/\s/gu, " ").replace(unprintable, "");
}

/** Returns a word as a person types it into a shell, in quotes if it needs them. */
export function shellWord(typedWord: string): string {
  return /^[\w.,@%+=:/-]+$/.test(typedWord) ? typedWord : `'${typedWord.replaceAll("'", `'\\''`)}'`;
}

/** Template tag for messages: each value is made printable, so no path or id can forge a line. */
export function printable(
  templateStrings: TemplateStringsArray,
  ...values: readonly string[]
): string {
  return String.raw({ raw: templateStrings }, ...values.map(toPrintablePath));
}

/** Returns the first texts of a list, at most so many, and how many more there are. */
export function withRest(
  listedTexts: readonly string[],
  shownLimit: number,
  totalCount = listedTexts.length,
): string[] {
  const hiddenCount = totalCount - Math.min(listedTexts.length, shownLimit);
  return [
    ...listedTexts.slice(0, shownLimit),
    ...(hiddenCount > 0 ? [`and ${hiddenCount} more`] : []),
  ];
}

/** Returns at most so many characters as a reader counts them, never a part of one. */
export function truncateCharacters(text: string, characterLimit: number): string {
  if (printableAscii.test(text)) return text.slice(0, characterLimit);
  let characterCount = 0;
  for (const { index: segmentStart } of listSegments(text)) {
    if (characterCount === characterLimit) return text.slice(0, segmentStart);
    characterCount += 1;
  }
  return text;
}

/** Returns how many columns of a terminal a printable text takes. */
export function columnsOf(text: string): number {
  return printableAscii.test(text) ? text.length : computeWidth(text);
}

/** Cuts text to a number of terminal columns; a cut ends with "…". */
export function truncateColumns(text: string, columnLimit: number): string {
  if (columnsOf(text) <= columnLimit) return text;
  let shortText = "";
  let usedColumns = 1; // the "…"
  for (const { segment } of listSegments(text)) {
    usedColumns += columnsOf(segment);
    if (usedColumns > columnLimit) break;
    shortText += segment;
  }
  return columnLimit < 1 ? "" : `${shortText.trimEnd()}…`;
}

// Loaded with the first such text: its patterns of emojis take 60 ms of the start of every program.
function computeWidth(text: string): number {
  const stringWidthModule = createRequire(import.meta.url)("string-width") as {
    default: typeof stringWidth;
  };
  return stringWidthModule.default(text);
}

function stripEscapes(text: string): string {
  return text.replace(terminalEscape, "");
}

// Made for the first text that needs it: it doubles the work of starting Node.
function listSegments(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return segmenter.segment(text);
}
