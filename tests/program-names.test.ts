import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";

const root = dirname(import.meta.dirname);
const run = (program: string, ...words: string[]) =>
  execFileSync(program, words, { cwd: root, encoding: "utf8" });

test("no text names the package of another person, or a command of it", () => {
  const help = run(process.execPath, "packages/evaluator-cli/src/main.ts", "--help");
  const [, listed = ""] = /\nCommands:\n([^]*?)\n\n/.exec(help) ?? [];
  const commands = Array.from(listed.matchAll(/^ {2}([a-z]+)/gm), ([, name = ""]) => name);
  expect(commands).toContain("calibrate");
  const wrong = new RegExp(
    String.raw`npx evaluator(?![-\w])|(?<![-\w/.@])evaluator (?:${commands.join("|")})\b.*`,
  );
  const files = run("git", "ls-files").trimEnd().split("\n");
  const texts = files.filter((file) => /\.(ts|mjs|md|html|ya?ml|json|example)$/.test(file));
  const found = texts.flatMap((file) => {
    const match = wrong.exec(readFileSync(join(root, file), "utf8"));
    return match === null || file === "tests/program-names.test.ts" ? [] : [`${file}: ${match[0]}`];
  });
  expect(found).toEqual([]);
});
