import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { questionHash } from "evaluator-calibration";
import { readAnswers } from "evaluator-runs";
import { expect, test } from "vitest";
import { table, twoEngines } from "../testing/two-engines.ts";

const engines: Record<"first" | "second", { id: string; wire: string | null }> = {
  first: { id: "local/rules-1", wire: null },
  // Both emulators name one model.
  second: { id: "local/rules-1", wire: "openai (step 2)" },
};

/** Returns a made-up promise for the questions of the run in a folder. */
function promiseOf(cwd: string, { model = engines.first, action = "yes", threshold = 0.9 }) {
  const [entry] = readAnswers(join(cwd, "tickets.evaluator.sqlite"));
  const promise = { maxRisk: 0.05, confidence: 0.95, n: 92, wrong: 0 };
  return {
    version: 2,
    kind: "none",
    parameters: {},
    model,
    questionHash: questionHash(entry?.questions ?? {}),
    rounding: { probabilityDecimals: 2 },
    fittedOn: { n: 100, from: null, to: null, hash: "" },
    heldOut: null,
    thresholds: [{ question: "refund", action, threshold, ...promise }],
  };
}

test("act takes the promise of each engine on its own answers alone", async () => {
  const { run, words, cwd } = await twoEngines();
  await run([...table, ...words, "--unsure", "0.8"]);
  const write = async (name: string, given: Parameters<typeof promiseOf>[1]) =>
    await writeFile(join(cwd, name), JSON.stringify(promiseOf(cwd, given)));
  await write("first.json", {});
  await write("second.json", { model: engines.second, action: "no" });
  await write("no.json", { action: "no", threshold: 0.51 });
  const act = async (...files: string[]) =>
    await run(["act", "tickets.csv", ...files.flatMap((file) => ["--artifact", file])]);
  const [one, other] = [await act("first.json"), await act("second.json")];
  expect(one.stderr).toBe("acts on 1 of 3: refund yes 1; 2 for a person\n");
  expect(other.stderr).toBe("acts on 2 of 3: refund no 2; 1 for a person\n");
  const both = await act("first.json", "second.json");
  expect(both.stderr).toBe("acts on 3 of 3: refund no 2, refund yes 1; 0 for a person\n");
  const lines = both.stdout.trim().split("\n");
  const acts = lines.map((line) => JSON.parse(line) as { evidence: { artifact: string } });
  expect(new Set(acts.map(({ evidence }) => evidence.artifact)).size).toBe(2);
  // The answers of the second engine are below 0.5, but the promise is the first one's.
  expect((await act("no.json")).stderr).toBe("acts on 0 of 3: 3 for a person\n");
  await write("third.json", { model: { id: "another", wire: null } });
  const refused = await act("first.json", "third.json");
  expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
  expect(refused.stderr).toContain("The calibration was made for another");
});

test("the promise of a calibration is the bound of the first engine", async () => {
  const { run, words, cwd, asked } = await twoEngines();
  await run([...table, ...words, "--unsure", "0.8"]);
  await writeFile(join(cwd, "calibration.json"), JSON.stringify(promiseOf(cwd, {})));
  const promised = [...table, ...words, "--calibration", "calibration.json"];
  const ended = await run(promised);
  expect(ended.stderr).toMatch(/if refund without the promise [0-9a-f]{16}\.\n/);
  expect(ended.exitCode).toBe(0);
  expect(await asked()).toEqual([6, 4]);
  const other = { ...promiseOf(cwd, {}), questionHash: "other" };
  await writeFile(join(cwd, "other.json"), JSON.stringify(other));
  const refused = await run([...table, ...words, "--unsure", "other.json"]);
  expect(refused.stderr).toContain("was made for other questions");
});

test.each([
  ["0.9", " (2 unsure)", false],
  ["0.8", "", true],
  ["refund=second.json", " (2 unsure)", false],
])("the second engine has its own bound %s", async (bound, count, isSure) => {
  const second = { rules: [{ answers: { refund: 0.15 } }] };
  const { run, words, cwd, asked } = await twoEngines(second);
  await run([...table, ...words, "--unsure", "0.8"]);
  const promised = promiseOf(cwd, { model: engines.second, action: "no" });
  await writeFile(join(cwd, "second.json"), JSON.stringify(promised));
  const ended = await run([...table, ...words, "--unsure", "0.8", "--then-unsure", bound]);
  expect(ended.stderr).toContain(`about 2 records, gave 2 answers${count}, $`);
  expect(ended.stderr).toMatch(/if refund below 0\.8; its own answers are unsure if refund .+\.\n/);
  expect(await asked()).toEqual([6, 4]);
  const entries = [...readAnswers(join(cwd, "tickets.evaluator.sqlite"))];
  const marks = entries.map(({ evaluation }) => evaluation.route?.["refund"]?.isSure);
  expect(marks).toEqual([true, isSure, isSure]);
  await writeFile(join(cwd, "mail.txt"), "The app crashes");
  const typed = ["ask", "--state", "mail.txt", "--questions", "q.json", ...words];
  const { stdout } = await run([...typed, "--unsure", "0.8", "--then-unsure", bound]);
  expect(stdout.split("\n", 1)[0]?.endsWith(", unsure")).toBe(!isSure);
});

test("a promise reports two engines of one model apart", async () => {
  const { run, words, cwd } = await twoEngines();
  await run([...table, ...words, "--unsure", "0.8"]);
  const labels = ["t-1,yes", "t-2,no", "t-3,yes"].map((line) => `${line},refund\n`).join("");
  await writeFile(join(cwd, "labels.csv"), `id,truth,question\n${labels}`);
  const typed = ["calibrate", "labels.csv", "--answers", "tickets.evaluator.sqlite", "--json"];
  const { reports } = JSON.parse((await run(typed)).stdout) as {
    reports: { source: { modelId: string; wire: string }; n: number }[];
  };
  expect(reports.map(({ source, n }) => [source.modelId, source.wire.split(" ")[0], n])).toEqual([
    ["local/rules-1", "gateway", 3],
    ["local/rules-1", "openai", 2],
  ]);
  expect(reports[1]?.source.wire).toBe("openai (step 2)");
});
