import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { type Child, startChild } from "evaluator-kit/child";
import { parseSync, Visitor } from "oxc-parser";
import { expect, test } from "vitest";
import type { PatternService } from "./pattern-child.ts";

const root = dirname(import.meta.dirname);
/** For one pattern, of which what is linear takes milliseconds, and what is exponential for ever. */
const LIMIT_MS = 60_000;

interface Pattern {
  readonly place: string;
  readonly source: string;
  readonly flags: string;
}

// Of programs that read mail, replies or requests; tests read their own text.
function sourceFiles(): string[] {
  return globSync("{apps/*,packages/*,fixtures}/src/**/*.ts", { cwd: root })
    .filter((path) => !/\/testing\/|\.test/.test(path))
    .map((path) => join(root, path));
}

function patternsIn(path: string): Pattern[] {
  const text = readFileSync(path, "utf8");
  const found: Pattern[] = [];
  // Three files of four hold nothing between slashes that repeats, and need not be parsed.
  if (!/\/(?![/*])[^\n]*[*+{][^\n]*\//.test(text)) return found;
  const visitor = new Visitor({
    Literal(node) {
      if (!("regex" in node)) return;
      const line = text.slice(0, node.start).split("\n").length;
      const { pattern: source, flags } = node.regex;
      if (!/[*+{]/.test(source)) return; // what repeats nothing is done with each place at once
      found.push({ place: `${relative(root, path)}:${line}`, source, flags });
    },
  });
  visitor.visit(parseSync(path, text).program);
  return found;
}

/** Returns the patterns that take too long; the process they run in is killed then. */
async function findEndless(patterns: readonly Pattern[], limitMs: number): Promise<string[]> {
  const found: string[] = [];
  let child: Child<PatternService> | undefined;
  for (const pattern of patterns) {
    const asked = (child ??= await startPatterns());
    const limit = setTimeout(() => {
      asked.kill();
      child = undefined;
    }, limitMs);
    const isEndless = await asked.ask("isEndless", pattern).catch((error: unknown) => {
      if (child !== undefined) throw error;
      return true;
    });
    clearTimeout(limit);
    if (isEndless) found.push(`${pattern.place} /${pattern.source}/`);
  }
  await child?.close();
  return found;
}

/** Starts a process that tries patterns, and waits until it does. */
async function startPatterns(): Promise<Child<PatternService>> {
  const child = startChild<PatternService>(new URL("pattern-child.ts", import.meta.url));
  await child.ask("isEndless", { source: "a", flags: "" });
  return child;
}

test(
  "every pattern comes back from long repeats of its own characters",
  { timeout: 600_000 },
  async () => {
    const patterns = sourceFiles().flatMap(patternsIn);
    expect(patterns.length).toBeGreaterThan(100);
    expect(await findEndless(patterns, LIMIT_MS)).toEqual([]);
  },
);

const here = { place: "here", flags: "" };

// These take half a second to for ever, so a moment shows as much as a second would.
test.each([
  ["groups in groups", String.raw`(?:[*x#]{2,}[ -]?)+\d`],
  ["a tail that is looked for from each place", String.raw`\s+$`],
  ["two repeats of the same", String.raw`a+a+b`],
  ["a word and what may follow it", String.raw`order\w*(?=\w*\d)x`],
])("a pattern with %s does not", async (_, source) => {
  expect(await findEndless([{ ...here, source }], 50)).toHaveLength(1);
});

test("a pattern that comes back from each, but late, is found by the processor time it took", async () => {
  expect(await findEndless([{ ...here, source: "abc[^x]*x" }], LIMIT_MS)).toHaveLength(1);
});
