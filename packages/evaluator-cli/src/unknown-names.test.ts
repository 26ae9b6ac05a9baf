import { appendFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { acts, labels, writeLines } from "./testing/acts.ts";
import { calibrate, folderWith, run } from "./testing/run.ts";

/** Returns a folder with answers to `scam` and to `kind`, and labels of `scam`. */
async function folderOfTwo(): Promise<string> {
  const folder = await folderWith(40);
  const probabilities = { receipt: 0.9, other: 0.1 };
  const answer = { id: "r0", question: "kind", probabilities, modelId: "maker/judge-7" };
  await appendFile(join(folder, "answers.ndjson"), `${JSON.stringify(answer)}\n`);
  const rows = Array.from({ length: 40 }, (_, at) => ({ id: `r${at}`, truth: at % 2 === 0 }));
  await writeLines(
    folder,
    "labels.ndjson",
    rows.map((row) => Object.assign(row, { question: "scam" })),
  );
  await writeLines(folder, "acts.ndjson", acts(40));
  await writeLines(folder, "later.ndjson", labels(acts(40)));
  await writeFile(join(folder, "empty.ndjson"), "");
  return folder;
}

const pick = ["pick", "--answers", "answers.ndjson", "--budget", "5"];
const audit = ["audit", "acts.ndjson", "--labels", "later.ndjson"];
const question = 'There is no question "nope"; there are scam, kind.';

test.each([
  [[...calibrate, "--action", "nope=yes"], question, 1],
  [[...calibrate, "--action", "kind=yes"], "--action kind=yes fits no answer; use kind=top.", 1],
  [[...calibrate, "--action", "kind=nope"], "Use a question and yes, no or top", 1],
  [[...calibrate, "--action", "kind=top"], "labels.ndjson has no label of kind.", 3],
  [[...calibrate, "--question", "scam", "--question", "nope"], question, 1],
  [[...calibrate, "--model", "nope"], 'no model "nope"; there is maker/judge-7.', 1],
  [[...calibrate, "--by", "nope"], 'column "nope". Name another with --by.', 1],
  [["calibrate", "empty.ndjson", "--answers", "answers.ndjson"], "empty.ndjson has no label.", 3],
  [["calibrate", "labels.ndjson", "--answers", "empty.ndjson"], "No answer is in empty.ndjson", 1],
  [[...pick, "--question", "nope"], question, 1],
  [[...pick, "--question", "scam", "--model", "nope"], 'There is no model "nope"; there is', 1],
  [[...pick, "--labels", "x.ndjson", "--for-promise", "nope=yes"], question, 1],
  [["pick", "--answers", "empty.ndjson", "--budget", "5"], "No answer is in empty.ndjson", 1],
  [[...audit, "--question", "nope"], 'no question "nope"; there is refund.', 1],
  [["drift", "--before", "answers.ndjson", "--after", "empty.ndjson"], "No answer is in empty", 1],
] as const)("%j names the known ones", async (words, message, exitCode) => {
  const result = await run(await folderOfTwo(), words);
  expect(result).toMatchObject({ exitCode, stdout: "" });
  expect(result.stderr).toContain(message);
});

test("audit of a question whose records were all left to a person shows no verdict", async () => {
  const folder = await folderOfTwo();
  const line = { id: "p1", question: "scam", act: null, why: "below-threshold" };
  await appendFile(join(folder, "acts.ndjson"), `${JSON.stringify(line)}\n`);
  expect(await run(folder, [...audit, "--question", "scam"])).toMatchObject({
    exitCode: 3,
    stderr: "acts.ndjson holds no act on scam.\n",
  });
});
