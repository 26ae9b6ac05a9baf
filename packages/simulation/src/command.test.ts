import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTestContext, temporaryFolder } from "evaluator-kit/testing";
import { runToExitCode } from "evaluator-kit";
import { expect, test } from "vitest";
import { runSimulation } from "./command.ts";
import { generatePlan } from "./plan/generate-plan.ts";

async function run(words: string, cwd = "/") {
  const context = createTestContext({ cwd });
  const exitCode = await runToExitCode(runSimulation, words.split(" "), {
    name: "It",
    context,
  });
  return { exitCode, ...context.printed };
}

test.each([
  ["--seeds 0", "--seeds"],
  ["--seeds two", "--seeds"],
  ["--seed 1.5", "--seed"],
  ["--seed 4294967296", "--seed"],
  ["--seed 1 --from 2", "--from"],
  ["--from 4294967290 --seeds 9", "--seeds"],
  ["--part all", "--part"],
  ["--store sqlite", "--store"],
  ["--minutes 0", "--minutes"],
  ["--minutes", "--minutes"],
  ["--plan nowhere.json", "--plan"],
  ["--rounds 3", "--rounds"],
  ["more", "more"],
])("%s is refused in one line", async (words, named) => {
  const { exitCode, stdout, stderr } = await run(words);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  expect(stderr).toContain(named);
  expect(stderr.trim().split("\n")).toHaveLength(1);
});

test("--json prints one object a seed and nothing else; a seed has one trace", async () => {
  const options = "--minutes 0.1 --part client --json";
  const { exitCode, stdout } = await run(`--from 16 --seeds 2 ${options}`);
  const results = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as object);
  const counts = { kill: 0, freeze: 0, slow: 0, service: 0, disk: 0, store: 0, clock: 0 };
  expect(exitCode).toBe(0);
  expect(results.map((result) => Object.keys(result))).toEqual(
    results.map(() =>
      "seed ok trace virtualMs cpuMs distinct asked bound lost wrong faults failed".split(" "),
    ),
  );
  expect(results[1]).toMatchObject({ seed: 17, ok: true, lost: 0, wrong: 0, failed: [] });
  expect(Object.keys((results[1] as { faults: object }).faults)).toEqual(Object.keys(counts));
  const alone = JSON.parse((await run(`--seed 17 ${options}`)).stdout) as object;
  const strip = (result: object | undefined) => ({ ...result, cpuMs: 0 });
  expect(strip(alone)).toEqual(strip(results[1]));
});

test("a plan is played from its file, and one seed prints its faults", async () => {
  const folder = await temporaryFolder();
  const plan = generatePlan({ seed: 3, minutes: 0.5, part: "client", store: "memory" });
  writeFileSync(join(folder, "plan.json"), JSON.stringify(plan));
  const { exitCode, stdout } = await run("--seed 3 --plan plan.json", folder);
  expect(exitCode).toBe(0);
  expect(plan.faults.length).toBeGreaterThan(0);
  expect(stdout.split("\n")).toHaveLength(plan.faults.length + 2);
  expect((await run("--seed 4 --plan plan.json", folder)).stderr).toContain("of seed 3");
});

test("a plan of another version, or that is none, is refused in a sentence", async () => {
  const folder = await temporaryFolder();
  const plan = generatePlan({ seed: 3, minutes: 1, part: "whole", store: "memory" });
  writeFileSync(join(folder, "old.json"), JSON.stringify({ ...plan, version: 0 }));
  writeFileSync(join(folder, "none.json"), JSON.stringify({ ...plan, records: -1 }));
  const old = await run("--plan old.json", folder);
  expect(old).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("is of version 0") });
  const none = await run("--plan none.json", folder);
  expect(none).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("records is wrong") });
});
