import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { startTriage } from "./testing/start-triage.ts";

/** A journal that an earlier version wrote, and what its commands printed about it. */
const recorded = join(import.meta.dirname, "testing/recorded");

interface Recorded {
  readonly outputs: readonly {
    readonly words: readonly string[];
    readonly exitCode: number;
    readonly stdout: string;
  }[];
}

const { outputs } = JSON.parse(await readFile(join(recorded, "outputs.json"), "utf8")) as Recorded;

test.each(outputs)("$words prints of an older journal what it printed then", async (output) => {
  const cwd = await temporaryFolder();
  await cp(join(recorded, "inbox.json"), join(cwd, "inbox.json"));
  await cp(join(recorded, "version-4.sqlite"), join(cwd, "inbox.triage.sqlite"));
  const { words, ...expected } = output;
  const { exitCode, stdout } = await startTriage(words, { cwd });
  expect({ exitCode, stdout }).toEqual(expected);
});
