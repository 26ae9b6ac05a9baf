import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { LabelFile } from "./label-file.ts";

async function newPath(): Promise<string> {
  return join(await temporaryFolder(), "inbox.labels.ndjson");
}

async function linesOf(path: string): Promise<unknown[]> {
  const text = await readFile(path, "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
}

test("a label is in the file when save returns, and one file has many", async () => {
  const path = await newPath();
  const labels = await LabelFile.open(path);
  await labels.save({ id: "m-1", question: "scam", truth: false, weight: 2.5, labeler: "person" });
  expect(await linesOf(path)).toEqual([
    { id: "m-1", question: "scam", truth: false, weight: 2.5, labeler: "person" },
  ]);
  await Promise.all(
    ["m-2", "m-3"].map((id) => labels.save({ id, question: "importance", truth: 4, weight: 1 })),
  );
  expect(await linesOf(path)).toHaveLength(3);
});

test("a second label of a record replaces the first, and of another question does not", async () => {
  const path = await newPath();
  const labels = await LabelFile.open(path);
  await labels.save({ id: "m-1", question: "scam", truth: false });
  await labels.save({ id: "m-1", question: "brand_deal", truth: false });
  await labels.save({ id: "m-1", question: "scam", truth: true });
  const again = await LabelFile.open(path);
  expect(again.truthOf("scam", "m-1")).toBe(true);
  expect(again.truthOf("brand_deal", "m-1")).toBe(false);
  expect(again.truthOf("scam", "m-2")).toBeNull();
  expect(await linesOf(path)).toHaveLength(2);
});

test("labels of others stay, with every field they have", async () => {
  const path = await newPath();
  await writeFile(path, '{"id":"m-9","truth":"receipt","group":"2026-10","note":"seen twice"}\n\n');
  const labels = await LabelFile.open(path);
  await labels.save({ id: "m-1", question: "scam", truth: true });
  expect((await linesOf(path))[0]).toEqual({
    id: "m-9",
    truth: "receipt",
    group: "2026-10",
    note: "seen twice",
  });
});

test("a larger draw gives drawn labels their new weight, and leaves those that were not drawn", async () => {
  const path = await newPath();
  await writeFile(
    path,
    '{"id":"m-1","question":"scam","truth":true,"weight":8}\n' +
      '{"id":"m-2","question":"scam","truth":true}\n',
  );
  const labels = await LabelFile.open(path);
  labels.reweigh("scam", [
    { id: "m-1", weight: 4 },
    { id: "m-2", weight: 4 },
  ]);
  await labels.save({ id: "m-3", question: "scam", truth: false, weight: 4 });
  expect(await linesOf(path)).toEqual([
    { id: "m-1", question: "scam", truth: true, weight: 4 },
    { id: "m-2", question: "scam", truth: true },
    { id: "m-3", question: "scam", truth: false, weight: 4 },
  ]);
});

test("a line that is no label is named, and the file stays as it is", async () => {
  const path = await newPath();
  const text = '{"id":"m-1","truth":true}\n{"id":"m-2"}\n';
  await writeFile(path, text);
  await expect(LabelFile.open(path)).rejects.toThrow(`line 2 of ${path} is no label`);
  expect(await readFile(path, "utf8")).toBe(text);
});

test("a label that could not be written is said, and the next one tries again", async () => {
  const folder = await temporaryFolder();
  const path = join(folder, "gone", "inbox.labels.ndjson");
  const labels = await LabelFile.open(path);
  const first = labels.save({ id: "m-1", question: "scam", truth: true });
  await expect(first).rejects.toThrow("no such file or directory");
  await mkdir(join(folder, "gone"));
  await labels.save({ id: "m-2", question: "scam", truth: false });
  expect(await linesOf(path)).toHaveLength(2);
});
