import { appendFile, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
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
    .split(/\n+/)
    .map((line) => JSON.parse(line) as unknown);
}

test("a label is in the file when save returns, and one file has many", async () => {
  const path = await newPath();
  using labels = await LabelFile.open(path);
  await labels.save({ id: "m-1", question: "scam", truth: false, weight: 2.5, labeler: "person" });
  expect(await linesOf(path)).toEqual([
    { id: "m-1", question: "scam", truth: false, weight: 2.5, labeler: "person" },
  ]);
  await Promise.all(
    ["m-2", "m-3"].map((id) => labels.save({ id, question: "importance", truth: 4, weight: 1 })),
  );
  expect(await linesOf(path)).toHaveLength(3);
});

test("a second label of a record replaces the first, and not that of another question or labeler", async () => {
  const path = await newPath();
  const ada = { id: "m-1", question: "scam", truth: false, labeler: "ada" };
  {
    using labels = await LabelFile.open(path);
    await labels.save(ada);
    await labels.save({ ...ada, question: "brand_deal" });
    await labels.save({ ...ada, labeler: "bob" });
    await labels.save({ ...ada, truth: true });
  }
  using again = await LabelFile.open(path);
  expect(again.find(ada)).toMatchObject({ truth: true });
  expect(again.find({ ...ada, question: "brand_deal" })).toMatchObject({ truth: false });
  expect(again.find({ ...ada, labeler: "bob" })).toMatchObject({ truth: false });
  expect(again.find({ ...ada, id: "m-2" })).toBeUndefined();
  expect(await linesOf(path)).toHaveLength(3);
});

test("one process at a time has the file, and none after its end", async () => {
  const path = await newPath();
  {
    using labels = await LabelFile.open(path);
    await labels.save({ id: "m-1", truth: true });
    await expect(LabelFile.open(path)).rejects.toThrow(
      `${path} is in use by another page; wait for its end.`,
    );
  }
  await writeFile(path, "{}\n");
  await expect(LabelFile.open(path)).rejects.toThrow("is no label");
  await writeFile(path, "");
  using again = await LabelFile.open(path);
  await again.save({ id: "m-2", truth: true });
  expect(await linesOf(path)).toHaveLength(1);
});

test("a new label is appended for its owner alone, also after a line without an end", async () => {
  const path = await newPath();
  await writeFile(path, '{"id":"m-1","truth":true}', { mode: 0o644 });
  using labels = await LabelFile.open(path);
  await labels.save({ id: "m-2", truth: null, skipped: true });
  await appendFile(path, '{"id":"m-9","truth":true}\n');
  await labels.save({ id: "m-3", truth: false });
  expect((await linesOf(path)).map((line) => (line as { id: string }).id)).toEqual([
    "m-1",
    "m-2",
    "m-9",
    "m-3",
  ]);
  const { mode } = await stat(path);
  expect(mode & 0o077).toBe(process.platform === "win32" ? mode & 0o077 : 0);
});

test("labels of others stay, with every field they have", async () => {
  const path = await newPath();
  await writeFile(path, '{"id":"m-9","truth":"receipt","group":"2026-10","note":"seen twice"}\n\n');
  using labels = await LabelFile.open(path);
  await labels.save({ id: "m-1", question: "scam", truth: true });
  expect((await linesOf(path))[0]).toEqual({
    id: "m-9",
    truth: "receipt",
    group: "2026-10",
    note: "seen twice",
  });
});

test("a line that is no label is named, and the file stays as it is", async () => {
  const path = await newPath();
  const text = '{"id":"m-1","truth":true}\n{"id":"m-2"}\n';
  await writeFile(path, text);
  await expect(LabelFile.open(path)).rejects.toThrow(`line 2 of ${path} is no label`);
  expect(await readFile(path, "utf8")).toBe(text);
});

test("a label that could not be written is reported, and the next one tries again", async () => {
  const folder = join(await temporaryFolder(), "gone");
  const path = join(folder, "inbox.labels.ndjson");
  await expect(LabelFile.open(path)).rejects.toThrow("no such file or directory");
  await mkdir(folder);
  using labels = await LabelFile.open(path);
  await labels.save({ id: "m-1", question: "scam", truth: true });
  await rm(folder, { recursive: true });
  const second = labels.save({ id: "m-2", question: "scam", truth: true });
  await expect(second).rejects.toThrow("no such file or directory");
  await mkdir(folder);
  await labels.save({ id: "m-3", question: "scam", truth: false });
  expect(await linesOf(path)).toHaveLength(3);
});
