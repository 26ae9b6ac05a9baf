import process from "node:process";
import { serveParent } from "evaluator-kit/child";

/** Enough that a pattern that squares it takes 20 to 600 ms, and a linear one a quarter of one (5 at most). */
const LENGTH = 14_000;
/** For one text, of the processor, of which a thread gets no less where others are at work. */
const LIMIT_MICROSECONDS = 12_000;
const MOST_CHARACTERS = 12;
const MOST_WORDS = 6;
const samples: Readonly<Record<string, string>> = {
  d: "1",
  D: "a",
  w: "a",
  W: " ",
  s: " ",
  S: "a",
  n: "\n",
  r: "\r",
  t: "\t",
  b: "",
  B: "",
};
const token =
  /\\u\{([0-9a-fA-F]{1,6})\}|\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|\\[pPk][{<][^}>]{1,40}[}>]|\\(.)|\{\d{1,6},?\d{0,6}\}|\(\?<?[:=!]|[()[\]|*+?^$]|(.)/gsu;

/** Returns the characters that a pattern names, in its order. */
function charactersOf(source: string): string[] {
  return Array.from(source.matchAll(token), ([, braced, unicode, hex, escaped, plain]) => {
    const code = braced ?? unicode ?? hex;
    if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16));
    if (escaped !== undefined) return samples[escaped] ?? escaped;
    return plain ?? "";
  }).filter((character) => character !== "");
}

/** Returns long texts of a pattern's characters: each, each with the next, all, and after each of its words. */
function* textsOf(source: string): Generator<string> {
  const inOrder = charactersOf(source);
  const characters = [...new Set([...inOrder, " ", "a", "1"])].slice(0, MOST_CHARACTERS);
  const words = [...new Set(source.match(/[a-z]{2,}/gi) ?? [])].slice(0, MOST_WORDS);
  for (const one of characters) {
    yield repeat(one);
    yield* words.map((word) => word + repeat(one));
    yield* words.map((word) => repeat(word + one));
  }
  for (const [index, one] of inOrder.entries()) yield repeat(one + (inOrder[index + 1] ?? ""));
  yield repeat(characters.join(""));
}

function repeat(unit: string): string {
  return unit.repeat(Math.ceil(LENGTH / unit.length));
}

function isSlow(pattern: RegExp, subject: string): boolean {
  const before = process.threadCpuUsage();
  subject.replace(pattern, "");
  const { user, system } = process.threadCpuUsage(before);
  return user + system > LIMIT_MICROSECONDS;
}

const service = {
  /** Returns whether a pattern takes too long over one of its texts, once it comes back from that. */
  isEndless({ source, flags }: { readonly source: string; readonly flags: string }): boolean {
    const pattern = new RegExp(source, flags);
    for (const text of textsOf(source)) {
      // What ends with something else lets no pattern end early.
      const subject = `${text}\u0001`;
      // Twice, because what shares the processor may have slowed the first.
      if (isSlow(pattern, subject) && isSlow(pattern, subject)) return true;
    }
    return false;
  },
};

/** What is asked about patterns. */
export type PatternService = typeof service;

serveParent(service);
