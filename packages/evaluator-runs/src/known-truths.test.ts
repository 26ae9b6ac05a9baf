import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTestContext, temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { KnownTruths } from "./known-truths.ts";

test("a level that a data frame wrote as 1.0 is level 1, and contradicts any other", async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "labels.csv"), "id,truth\na,1.0\nb,0.0\nc,\n");
  const truths = await KnownTruths.read("labels.csv", createTestContext({ cwd }));
  const contradicts = (id: string, act: string) =>
    truths.contradict({ input: { id }, kept: null }, "level", act);
  expect(["a", "b", "c"].map((id) => contradicts(id, "1"))).toEqual([false, true, false]);
  expect(["a", "b"].map((id) => contradicts(id, "yes"))).toEqual([false, true]);
});

test("a label 1.0 is the option with that name, if a choice has it beside 1", async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "labels.csv"), "id,truth\na,1.0\n");
  const truths = await KnownTruths.read("labels.csv", createTestContext({ cwd }));
  const contradicts = (act: string, probabilities: Record<string, number>) => {
    const answers = { version: { type: "choice" as const, choice: act, probabilities } };
    return truths.contradict(
      { input: { id: "a" }, kept: { answers, modelId: null } },
      "version",
      act,
    );
  };
  expect(contradicts("1", { "1": 0.9, "1.0": 0.1 })).toBe(true);
  expect(contradicts("1.0", { "1": 0.1, "1.0": 0.9 })).toBe(false);
  expect(contradicts("1", { "1": 0.9, "2": 0.1 })).toBe(false);
});

// Quadratic time would be minutes here, and the test's limit a minute.
test("30,000 labels of records with one state take linear time", async () => {
  const cwd = await temporaryFolder();
  const rows = Array.from({ length: 30_000 }, (_, at) => {
    return { input: { id: `r${at}` }, kept: null, keptState: { body: "" } };
  });
  const labels = rows.map(({ input }, at) => `${input.id},${at % 2 === 0 ? "no" : "false"}\n`);
  await writeFile(join(cwd, "labels.csv"), `id,truth\n${labels.join("")}`);
  const knownTruths = await KnownTruths.read("labels.csv", createTestContext({ cwd }));
  for (const row of rows) knownTruths.addRow(row);
  const contradicted = (act: string) =>
    rows.filter((row) => knownTruths.contradict(row, "refund", act)).length;
  expect([contradicted("no"), contradicted("yes")]).toEqual([0, 30_000]);
});

test("a missing file of labels and a broken line are sentences with the name of the file", async () => {
  const cwd = await temporaryFolder();
  const read = () => KnownTruths.read("labels.csv", createTestContext({ cwd }));
  await expect(read()).rejects.toThrow(`Cannot read ${cwd}/labels.csv: no such file or directory.`);
  await writeFile(join(cwd, "labels.csv"), "id,truth\na\n");
  await expect(read()).rejects.toThrow("labels.csv line 2: has 1 cell, and the header 2; ");
});

test("a label of a question that no row answers is refused, and other records are named", async () => {
  const cwd = await temporaryFolder();
  const answers = { refund: { type: "boolean" as const, probability: 0.9 } };
  const row = { input: { id: "a" }, kept: { answers, modelId: null } };
  const describeMissing = async (labels: string, kept: typeof row.kept | null = row.kept) => {
    await writeFile(join(cwd, "labels.csv"), `id,question,truth\n${labels}`);
    const knownTruths = await KnownTruths.read("labels.csv", createTestContext({ cwd }));
    knownTruths.addRow({ ...row, kept });
    return knownTruths.describeMissing();
  };
  await expect(describeMissing("a,refund,1\na,nope,1\n")).rejects.toThrow(
    'labels.csv line 3: question is "nope"; it must be one of "refund".',
  );
  expect(await describeMissing("a,refund,1\n")).toBe("");
  for (const question of ["refund", ""]) {
    await expect(describeMissing(`a,${question},nein\n`)).rejects.toThrow(
      'The label of "a" is "nein"; it must be true or false, 1 or 0, yes or no.',
    );
  }
  expect(await describeMissing("a,,nein\n", null)).toBe("");
  const passedOver = 'Passed over: 1 labelled record without an answer here, such as "b".';
  expect(await describeMissing("a,refund,1\nb,,1\n")).toBe(`${passedOver}\n`);
  expect(await describeMissing("b,refund,1\n")).toBe(
    `${passedOver} No label is of a record here: compare the ids of the two files.\n`,
  );
});
