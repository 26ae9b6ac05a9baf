import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { named, reportOf, triaged } from "../testing/report-pages.ts";
import { folderWith, startTriage } from "../testing/start-triage.ts";

test("a filter that names no answer is refused, and no page written", async () => {
  const cwd = await triaged(named("calm"));
  const words = ["report", "inbox.json", "--only", "scram > 0.5"];
  const { exitCode, stderr } = await startTriage(words, { cwd });
  expect(exitCode).toBe(1);
  expect(stderr).toContain(
    '--only, column 1: "scram" is no answer of this run; there are category',
  );
  await expect(readFile(join(cwd, "inbox.triage.html"))).rejects.toThrow("ENOENT");
});

test("no mails make a page as well", async () => {
  const cwd = await triaged([]);
  expect(await readFile(await reportOf(cwd), "utf8")).toContain("No mails.");
});

test("without a run the way on is named", async () => {
  const cwd = await folderWith([]);
  const { exitCode, stderr } = await startTriage(["report", "inbox.json"], { cwd });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("start a run about its input first.");
});
