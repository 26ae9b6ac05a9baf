import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { writeWholeFile } from "./write-whole-file.ts";

test("replaces an older, longer file and leaves nothing beside it", async () => {
  const folder = await temporaryFolder();
  const path = join(folder, "results.json");
  await writeFile(path, "an older and longer text");
  await writeWholeFile(path, ["n", "é"]);
  expect(await readFile(path, "utf8")).toBe("né");
  expect(await readdir(folder)).toEqual(["results.json"]);
});

test("leaves nothing behind when the file cannot be put in place", async () => {
  const folder = await temporaryFolder();
  const path = join(folder, "results.json");
  await mkdir(path);
  await expect(writeWholeFile(path, ["text"])).rejects.toThrow("EISDIR");
  expect(await readdir(folder)).toEqual(["results.json"]);
});

test("keeps the older file when there is no room for the new one", async () => {
  const folder = await temporaryFolder();
  const path = join(folder, "results.json");
  await writeFile(path, "older");
  const module = new URL("write-whole-file.ts", import.meta.url).href;
  const program = `
    const { writeWholeFile } = await import(${JSON.stringify(module)});
    await writeWholeFile(${JSON.stringify(path)}, ["x".repeat(1_000_000)]);`;
  // The limit lets the first blocks through and stops the rest, as a disk that fills up does.
  const limited = 'ulimit -f 8; exec "$0" --input-type=module --eval "$1"';
  const run = promisify(execFile)("bash", ["-c", limited, process.execPath, program]);
  await expect(run).rejects.toMatchObject({ stderr: expect.stringContaining("EFBIG") });
  expect(await readFile(path, "utf8")).toBe("older");
  expect(await readdir(folder)).toEqual(["results.json"]);
});
