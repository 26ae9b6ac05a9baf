import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runToExitCode } from "evaluator-kit";
import { createTestContext, temporaryFolder } from "evaluator-kit/testing";
import type { CalibrationReport } from "../calibrate/calibration-report.ts";
import { runEvaluator } from "../run-evaluator.ts";

/** Runs the program in a folder, and returns its exit code and what it printed. */
export async function run(
  cwd: string,
  words: readonly string[],
  given: Partial<Parameters<typeof runEvaluator>[1]> = {},
) {
  const context = createTestContext({ cwd, ...given });
  const program: typeof runEvaluator = (typed, machine) =>
    runEvaluator(typed, { ...given, ...machine });
  const exitCode = await runToExitCode(program, words, { name: "The evaluator", context });
  return { exitCode, ...context.printed };
}

/** Returns a folder with answers and labels of a question whose yes is right at 0.9 and above, and at 0.1 and below never. */
export async function folderWith(
  n: number,
  {
    modelId = "maker/judge-7",
    wrongEvery = 100,
    name = "answers.ndjson",
    labels = true,
    prefix = "r",
    questionHash = null as string | null,
  } = {},
  cwd?: string,
) {
  const folder = cwd ?? (await temporaryFolder());
  const rows = Array.from({ length: n }, (_, index) => {
    const isYes = index % 2 === 0;
    const p = ((isYes ? 90 : 2) + (index % 7)) / 100;
    const isWrong = index % wrongEvery === wrongEvery - 1 || index % wrongEvery === wrongEvery - 2;
    return {
      id: `${prefix}${index}`,
      p,
      truth: isYes !== isWrong,
      group: index % 3 === 0 ? "work" : "home",
    };
  });
  const answers = rows.map(({ id, p }) => {
    return { id, question: "scam", probability: p, modelId, questionHash };
  });
  await writeFile(join(folder, name), lines(answers));
  if (!labels) return folder;
  await writeFile(
    join(folder, "labels.ndjson"),
    lines(rows.map(({ id, truth, group }) => ({ id, truth, group, labeler: "ada" }))),
  );
  return folder;
}

/** The words of a plain report. */
export const calibrate = ["calibrate", "labels.ndjson", "--answers", "answers.ndjson"];

/** Returns the report that was written in a folder. */
export async function readReport(folder: string) {
  const json = await readFile(join(folder, "calibration", "report.json"), "utf8");
  return JSON.parse(json) as CalibrationReport;
}

function lines(records: readonly object[]): string {
  return records.map((row) => `${JSON.stringify(row)}\n`).join("");
}
