import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { questionHash } from "evaluator-calibration";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { run } from "../testing/run.ts";

const questions = { scam: { type: "boolean", instructions: "Is it a scam?" } };
/** Scores of a judge that is always right. */
const scores = Array.from({ length: 300 }, (_, at) => {
  return { id: `m${at}`, question: "scam", probability: at % 2 === 0 ? 0.98 : 0.03 };
});
const head = "id,question,probability,modelId\n";

function cellsOf({ id, question, probability }: (typeof scores)[number]): string {
  return `${id},${question},${probability},own/judge\n`;
}

/** Returns a folder with scores, and a calibration that was made from them. */
async function calibratedFolder() {
  const folder = await temporaryFolder();
  const write = async (name: string, text: string) => await writeFile(join(folder, name), text);
  await write("q.json", JSON.stringify(questions));
  await write("scores.csv", head + scores.map(cellsOf).join(""));
  const labels = scores.map(({ id, probability }) => `${id},${probability > 0.5 ? "yes" : "no"}\n`);
  await write("labels.csv", `id,truth\n${labels.join("")}`);
  const words = ["calibrate", "labels.csv", "--answers", "scores.csv", "--questions", "q.json"];
  expect(await run(folder, [...words, "--out", "."])).toMatchObject({ exitCode: 0 });
  return { folder, write };
}

test("act takes the scores that calibrate takes, in each form", async () => {
  const { folder, write } = await calibratedFolder();
  const act = ["--artifact", "calibration.json", "--acts-only"];
  const { exitCode, stdout, stderr } = await run(folder, ["act", "scores.csv", ...act]);
  expect({ exitCode, stderr }).toEqual({
    exitCode: 0,
    stderr: "acts on 300 of 300: scam no 150, scam yes 150; 0 for a person\n",
  });
  expect(JSON.parse(stdout.split("\n", 1)[0] ?? "")).toMatchObject({
    id: "m0",
    question: "scam",
    act: "yes",
    evidence: { printed: 0.98, model: "own/judge" },
  });
  const rows = scores.map((score) => Object.assign({ modelId: "own/judge" }, score));
  await write("scores.json", JSON.stringify(rows));
  expect(await run(folder, ["act", "scores.json", ...act])).toMatchObject({ exitCode, stdout });
});

const ofRecord = ({ id, probability }: (typeof scores)[number]) => {
  return { id, answers: { scam: { type: "boolean", probability } } };
};

test.each([
  ["answers without a model and a hash", scores.map(ofRecord)],
  [
    "answers without a type",
    scores.map((one) => ({ id: one.id, answers: { scam: { probability: one.probability } } })),
  ],
  ["scores without a model", scores],
])("act takes %s, as calibrate does with --questions", async (_, rows) => {
  const { folder, write } = await calibratedFolder();
  await write(
    "rows.json",
    JSON.stringify([...rows, { id: "m300", question: "scam", error: "timeout" }]),
  );
  const words = ["calibrate", "labels.csv", "--answers", "rows.json", "--questions", "q.json"];
  expect(await run(folder, words)).toMatchObject({ exitCode: 0 });
  const act = ["act", "rows.json", "--artifact", "calibration/calibration.json"];
  const { exitCode, stderr } = await run(folder, act);
  expect([exitCode, stderr]).toEqual([
    2,
    "acts on 300 of 301: scam no 150, scam yes 150; 0 for a person; 1 without an answer\n",
  ]);
});

test("act takes a router's decision log, and its feedback as labels", async () => {
  const { folder, write } = await calibratedFolder();
  const decisions = scores.map(({ id, probability }) => {
    const probabilities = { nano: probability, frontier: Number((1 - probability).toFixed(2)) };
    const about = { evaluatorModelId: "own/judge", questionHash: "hash", outcome: "routed" };
    return { requestId: id, evaluationId: `of ${id}`, ...about, probabilities };
  });
  const feedback = scores.map(({ id, probability }) => {
    return { requestId: id, feedback: probability > 0.5 ? "nano" : "frontier" };
  });
  await write("log.json", JSON.stringify([...decisions, ...feedback]));
  expect(await run(folder, ["calibrate", "log.json", "--answers", "log.json"])).toMatchObject({
    exitCode: 0,
  });
  const act = ["act", "log.json", "--artifact", "calibration/calibration.json", "--labels"];
  const all = await run(folder, [...act, "log.json"]);
  expect(all.stderr).toBe("acts on 300 of 300: tier frontier 150, tier nano 150; 0 for a person\n");
  const against = [
    { requestId: "m0", feedback: "frontier" },
    { id: "of m1", question: "tier", truth: "nano" },
  ];
  await write("against.json", JSON.stringify(against));
  expect((await run(folder, [...act, "against.json"])).stderr).toContain("acts on 298 of 300");
});

test.each([
  ["a repeated score", cellsOf(scores[0] as (typeof scores)[number]).repeat(2), "is repeated"],
  ["no number", "m0,scam,often,own/judge\n", "scores.csv line 2"],
  ["a cut line", "m0,scam\n", "scores.csv line 2: has 2 cells"],
  ["another model", "m0,scam,0.98,other\n", "made for own/judge"],
])("act refuses %s before it prints", async (_, text, problem) => {
  const { folder, write } = await calibratedFolder();
  await write("scores.csv", head + text);
  const refused = await run(folder, ["act", "scores.csv", "--artifact", "calibration.json"]);
  expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
  expect(refused.stderr).toContain(problem);
});

test("act refuses a score of a record whose answers it has", async () => {
  const { folder, write } = await calibratedFolder();
  const answers = { scam: { type: "boolean", probability: 0.98 } };
  const modelId = "own/judge";
  const whole = { id: "m0", answers, modelId, questionHash: questionHash(questions) };
  const score = { id: "m0", question: "scam", probability: 0.98, modelId };
  await write("both.json", JSON.stringify([whole, score]));
  const act = ["act", "both.json", "--artifact", "calibration.json"];
  const refused = await run(folder, act);
  expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
  expect(refused.stderr).toContain("is repeated");
});
