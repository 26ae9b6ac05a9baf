import { glob, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const root = dirname(import.meta.dirname);
const tokens = "packages/kit/src/page/tokens.css";

const colour =
  /(?:#|%23)(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})\b|\b(?:rgb|hsl|hwb|lab|lch|oklab|oklch)a?\(|:\s*(?:white|black|red|green|blue|gr[ae]y|silver|orange|purple|navy|teal)\b/i;
// A "#" in code is a private field or a number.
const colourInCode = new RegExp(
  String.raw`(?:color|background|fill|stroke|border|shadow)\b.{0,40}(?:${colour.source})`,
  "i",
);

test("only the file of tokens has colours", async () => {
  const found: string[] = [];
  for await (const file of glob("{apps,packages}/*/src/**/*.{css,html,ts}", { cwd: root })) {
    if (/\.test\.|[/\\]testing[/\\]/.test(file)) continue;
    const text = await readFile(join(root, file), "utf8");
    if ((file.endsWith(".ts") ? colourInCode : colour).test(text)) found.push(file);
  }
  expect(found.map((file) => file.replaceAll("\\", "/"))).toEqual([tokens]);
});

test.each([
  ["a { color: #fff }", true],
  ["a { border: 1px solid rgb(0 0 0 / 4%) }", true],
  ["a { fill: white }", true],
  ["stroke='%237c3aed'", true],
  ["a { color: var(--ink); background: color-mix(in oklab, var(--ink) 5%, transparent) }", false],
  ['<a href="#added">', false],
])("%s has a colour: %s", (text, has) => {
  expect(colour.test(text)).toBe(has);
});
