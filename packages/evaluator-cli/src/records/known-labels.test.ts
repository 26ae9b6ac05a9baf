import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { readAnswers } from "evaluator-runs";
import { expect, test } from "vitest";
import { refundCalibration } from "../testing/refund-calibration.ts";
import { run } from "../testing/run.ts";

const questions = { refund: { type: "boolean", instructions: "Is it a refund?" } } as const;
const subjects = ["The app crashes", "The app crashes", "Hello", "The app crashes"];

test("no act contradicts a label of another record with the same state, and a misspelt question is refused", async () => {
  const folder = await temporaryFolder();
  const rows = subjects.map((subject, at) => `t-${at},${subject}\n`);
  await writeFile(join(folder, "tickets.csv"), `id,subject\n${rows.join("")}`);
  await writeFile(join(folder, "q.json"), JSON.stringify(questions));
  await run(folder, ["run", "tickets.csv", "--questions", "q.json", "--offline"]);
  const [first] = readAnswers(join(folder, "tickets.evaluator.sqlite"));
  const artifact = refundCalibration(first?.evaluation.modelId ?? null, questions, [
    { action: "yes", threshold: 0.51 },
    { action: "no", threshold: 0.51 },
  ]);
  await writeFile(join(folder, "calibration.json"), JSON.stringify(artifact));
  const act = ["act", "tickets.csv", "--artifact", "calibration.json"];
  const before = (await run(folder, act)).stdout.trim().split("\n");
  const lines = before.map((line) => JSON.parse(line) as { id: string; act: string | null });
  const [own, , other] = lines.map((line) => line.act);
  expect([own, other]).not.toContain(null);
  const against = own === "yes" ? "no" : "yes";
  await writeFile(join(folder, "known.csv"), `id,truth\nt-1,${against}\nt-2,${other}\n`);
  const { stdout } = await run(folder, [...act, "--labels", "known.csv"]);
  const reasons = stdout
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { why?: string }).why);
  expect(reasons).toEqual(["label", "label", undefined, "label"]);
  await writeFile(join(folder, "known.csv"), "id,question,truth\nt-1,refnd,yes\n");
  expect(await run(folder, [...act, "--labels", "known.csv"])).toMatchObject({
    exitCode: 1,
    stdout: "",
    stderr: 'known.csv line 2: question is "refnd"; it must be one of "refund".\n',
  });
});
