import { CliError, truncateCharacters, printable, toPrintable } from "evaluator-kit";

const readingWords = new Set(["select", "with", "values"]);
const nextStep = 'The command "query" without one prints the tables and their columns.';

/** Parts of a query that contain no SQL words: comments, texts and quoted names. */
const passages = /--[^\n]*|\/\*[^]*?(?:\*\/|$)|'[^']*'?|"[^"]*"?|`[^`]*`?/g;

/** Checks that a query is one reading statement, and returns it without the semicolon at its end. */
export function checkQuery(text: string): string {
  // Of the same length: comments as spaces, and quoted parts as x.
  const bare = text.replace(passages, (passage) => {
    return (/^(?:--|\/\*)/.test(passage) ? " " : "x").repeat(passage.length);
  });
  const end = bare.indexOf(";");
  const rest = end === -1 ? "" : bare.slice(end + 1);
  const second = rest.search(/[^\s;]/);
  if (second !== -1) {
    const start = end + 1 + second;
    throw new CliError(
      printable`A query is one statement, and a second one begins at character ${String(start + 1)} ("${shown(text.slice(start))}"); nothing was run. Give them one after the other.`,
    );
  }
  const [word = ""] = /[^\s(;]\w*/.exec(bare) ?? [];
  if (word === "") throw new CliError(`The query is empty. ${nextStep}`);
  if (!readingWords.has(word.toLowerCase())) {
    throw new CliError(
      printable`A query only reads: it begins with select, with or values, and this one begins with "${shown(word)}"; nothing was run. ` +
        nextStep,
    );
  }
  return end === -1 ? text : text.slice(0, end);
}

function shown(text: string): string {
  return truncateCharacters(toPrintable(text), 30);
}
