import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readCodeBlocks } from "./read-readme.ts";
import { type CommandResult, runCommand } from "./run-command.ts";

const root = dirname(import.meta.dirname);
const page = "docs/calibration.md";
const commands = readCodeBlocks(page, "sh").flatMap((block) => block.trim().split("\n"));

test("the example of the page on calibration runs without a key, and prints what the page quotes", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "calibration-"));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  await cp(
    join(root, "fixtures", "mail", "inbox.json"),
    join(cwd, "fixtures", "mail", "inbox.json"),
  );
  await cp(join(root, "fixtures", "labels"), join(cwd, "fixtures", "labels"), { recursive: true });
  const results: CommandResult[] = [];
  for (const command of commands) {
    // The same words from another folder, with paths that are relative to it.
    results.push(await runCommand(command.replace("npm run", `npm --prefix ${root} run`), { cwd }));
  }
  expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
  const printed = results.at(-1)?.stdout ?? "";
  const quoted = readCodeBlocks(page, "text").flatMap((block) => block.trimEnd().split("\n"));
  expect(quoted.length).toBeGreaterThan(3);
  for (const line of quoted) expect(printed).toContain(line);
  const report = JSON.parse(await readFile(join(cwd, "calibration", "report.json"), "utf8")) as {
    reports: { verdict: string; n: number; source: { basis: string } }[];
  };
  const lexical = report.reports.filter(({ source }) => source.basis === "lexical");
  expect(lexical.map(({ verdict, n }) => `${verdict} ${n}`)).toEqual(Array(4).fill("worthless 36"));
});
