import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { smallDisk } from "../testing/small-disk.ts";
import { openLineFile } from "./decision-log.ts";

test("a write cut short at the end of a line leaves no blank one", async () => {
  const path = join(await temporaryFolder(), "lines");
  const { disk, open } = smallDisk(4);
  const file = await openLineFile(path, open);
  await expect(file.add(["one\n", "two\n"])).rejects.toMatchObject({ linesWritten: 1 });
  disk.free = 100;
  await file.add(["three\n"]);
  await file.close();
  expect(await readFile(path, "utf8")).toBe("one\nthree\n");
});

test("a line cut short by a write is ended before the next one", async () => {
  const path = join(await temporaryFolder(), "lines");
  const { disk, open } = smallDisk(6);
  const file = await openLineFile(path, open);
  await expect(file.add(["one\n", "two\n"])).rejects.toMatchObject({ linesWritten: 1 });
  disk.free = 100;
  for (const line of ["three\n", "four\n"]) await file.add([line]);
  await file.close();
  expect(await readFile(path, "utf8")).toBe("one\ntw\nthree\nfour\n");
});

test("a line break that does not fit either is written with the next line", async () => {
  const path = join(await temporaryFolder(), "lines");
  await writeFile(path, "torn");
  const { disk, open } = smallDisk(0);
  const file = await openLineFile(path, open);
  await expect(file.add(["one\n"])).rejects.toMatchObject({ linesWritten: 0 });
  disk.free = 1;
  await expect(file.add(["two\n"])).rejects.toMatchObject({ linesWritten: 0 });
  disk.free = 100;
  await file.add(["three\n"]);
  await file.close();
  expect(await readFile(path, "utf8")).toBe("torn\nthree\n");
});

test("a log that ends well is gone on with at once, without a blank line", async () => {
  const path = join(await temporaryFolder(), "lines");
  await writeFile(path, "one\n");
  const file = await openLineFile(path);
  await file.add(["two\n"]);
  await file.close();
  expect(await readFile(path, "utf8")).toBe("one\ntwo\n");
});
