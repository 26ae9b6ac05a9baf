import { CliError, truncateCharacters, printable, toPrintable } from "evaluator-kit";
import { printCounted } from "../amounts.ts";

/** A problem in the text of a query. */
export class QueryProblem extends CliError {}

/** Returns the error of a query that did not end in time. */
export function tookTooLong(timeoutMs: number): CliError {
  const seconds = printCounted(timeoutMs / 1000, "second");
  return new CliError(`The query took longer than ${seconds}. Ask for less, or set --timeout.`);
}

/** Returns the error of a query with a value or a row that is not read. */
export function tooLarge(): CliError {
  return new CliError(
    "A value of the query is larger than 1 MB, or a row larger than 2 MB. Ask for a part, such as substr(snippet, 1, 1000).",
  );
}

const readingWords = new Set(["select", "with", "values"]);

/** Parts of a query that contain no SQL words: comments, texts and quoted names. */
const passages: readonly (readonly [string, string])[] = [
  ["--", "\n"],
  ["/*", "*/"],
  ["'", "'"],
  ['"', '"'],
  ["`", "`"],
];

/**
 * Checks that a query is one reading statement, and returns it without the semicolon at its end.
 *
 * @throws QueryProblem with its place.
 */
export function checkQuery(text: string): string {
  const bare = withoutPassages(text);
  const end = bare.indexOf(";");
  const rest = end === -1 ? "" : bare.slice(end + 1);
  const second = rest.search(/[^\s;]/);
  if (second !== -1) {
    const start = end + 1 + second;
    throw new QueryProblem(
      printable`A query is one statement, and a second one begins at character ${String(start + 1)} ("${shown(text.slice(start))}"); nothing was run. Give them one after the other.`,
    );
  }
  const [word = ""] = /[^\s(;]\w*/.exec(bare) ?? [];
  if (word === "") throw new QueryProblem(`The query is empty. ${nextStep}`);
  if (!readingWords.has(word.toLowerCase())) {
    throw new QueryProblem(
      printable`A query only reads: it begins with select, with or values, and this one begins with "${shown(word)}"; nothing was run. ` +
        nextStep,
    );
  }
  return end === -1 ? text : text.slice(0, end);
}

const nextStep = 'The command "query" without one prints the tables and their columns.';

/** Replaces comments with spaces and quoted parts with x, without a change of length. */
function withoutPassages(text: string): string {
  let bare = "";
  while (bare.length < text.length) {
    const at = bare.length;
    const passage = passages.find(([start]) => text.startsWith(start, at));
    if (passage === undefined) {
      bare += text[at];
      continue;
    }
    const [start, stop] = passage;
    const found = text.indexOf(stop, at + start.length);
    const end = found === -1 ? text.length : found + stop.length;
    const isComment = start === "--" || start === "/*";
    bare += (isComment ? " " : "x").repeat(end - at);
  }
  return bare;
}

function shown(text: string): string {
  return truncateCharacters(toPrintable(text), 30);
}
