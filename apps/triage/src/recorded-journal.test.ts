import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { startTriage } from "./testing/start-triage.ts";

/** Journals that earlier versions wrote, and what their commands printed about them. */
const recorded = join(import.meta.dirname, "testing/recorded");

interface Recorded {
  readonly outputs: readonly {
    readonly words: readonly string[];
    readonly exitCode: number;
    readonly stdout: string;
  }[];
}

async function outputsOf(version: string) {
  const text = await readFile(join(recorded, version, "outputs.json"), "utf8");
  const { outputs } = JSON.parse(text) as Recorded;
  return outputs.map((output) => Object.assign(output, { version }));
}

/** Copies a recorded journal and its input into a folder. */
async function folderOf(version: string): Promise<string> {
  const cwd = await temporaryFolder();
  await cp(join(recorded, version, "inbox.json"), join(cwd, "inbox.json"));
  await cp(join(recorded, version, "journal.sqlite"), join(cwd, "inbox.triage.sqlite"));
  return cwd;
}

const all = (await Promise.all(["version-4", "version-5"].map(outputsOf))).flat();

test.each(all)("$words prints of a journal of $version what it printed then", async (output) => {
  const cwd = await folderOf(output.version);
  const { words, version: _, ...expected } = output;
  const { exitCode, stdout } = await startTriage(words, { cwd });
  expect({ exitCode, stdout }).toEqual(expected);
});

test("the last run of an older journal stays as it was after a new one, and earlier ones are not known", async () => {
  const cwd = await folderOf("version-5");
  const before = all.find(({ version, words }) => version === "version-5" && words.length === 1);
  await startTriage(["inbox.json", "--limit", "2"], { cwd });
  const { stdout } = await startTriage(["export", "--run", "2"], { cwd });
  expect(stdout).toBe(before?.stdout);
  const first = await startTriage(["export", "--run", "1"], { cwd });
  expect(first.stderr).toContain("has no records of run 1 of an older version; name a");
});
