import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readCodeBlocks, runCommand } from "./run-command.ts";

const root = dirname(import.meta.dirname);
const page = "docs/calibration.md";
const commands = readCodeBlocks(page, "sh").flatMap((block) => block.trim().split("\n"));

const results: Awaited<ReturnType<typeof runCommand>>[] = [];
let cwd = "";

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "calibration-"));
  for (const given of ["mail/inbox.json", "labels"]) {
    await cp(join(root, "fixtures", given), join(cwd, "fixtures", given), { recursive: true });
  }
  for (const command of commands) {
    results.push(await runCommand(fromSources(command), { cwd }));
  }
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

/** Returns a command as the README writes it for another folder than the clone. */
function fromSources(command: string): string {
  return command.replace("npx ", `npx --prefix ${root} `);
}

test("the triage of the page writes the file and prints the table", async () => {
  const read = async (file: string): Promise<unknown[]> =>
    JSON.parse(await readFile(join(cwd, "fixtures", "mail", file), "utf8"));
  expect(results[0]?.exitCode).toBe(0);
  expect(await read("inbox.triage.json")).toHaveLength((await read("inbox.json")).length);
  const head = /^imp +conf +scam +deal +category +date +from +subject$/m;
  expect(results[0]?.stdout).toMatch(head);
});

test("the example of the page on calibration runs without a key, and prints what the page quotes", async () => {
  expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
  const printed = results.at(-1)?.stdout ?? "";
  const quoted = readCodeBlocks(page, "text").flatMap((block) => block.trimEnd().split("\n"));
  expect(quoted.length).toBeGreaterThan(3);
  for (const line of quoted) expect(printed).toContain(line);
  const report = JSON.parse(await readFile(join(cwd, "calibration", "report.json"), "utf8")) as {
    reports: { verdict: string; n: number; source: { basis: string } }[];
  };
  const lexical = report.reports.filter(({ source }) => source.basis === "lexical");
  expect(lexical.map(({ verdict, n }) => `${verdict} ${n}`)).toEqual([
    "useful after recalibration 36",
    "worthless 36",
    "useful after recalibration 36",
    "useful after recalibration 36",
  ]);
});
