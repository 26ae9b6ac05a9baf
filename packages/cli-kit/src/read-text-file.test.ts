import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CliError } from "./errors.ts";
import { parseJson, readTextFile } from "./read-text-file.ts";
import { temporaryFolder } from "./testing/index.ts";

test("a file of text is read as it is", async () => {
  const path = join(await temporaryFolder(), "a.txt");
  await writeFile(path, "\uFEFFé\r\n");
  expect(await readTextFile(path, "Check the path.")).toBe("\uFEFFé\r\n");
});

test("a file that cannot be read is named, with why and what to do", async () => {
  const path = join(await temporaryFolder(), "none.txt");
  const reading = readTextFile(path, "Check the path after --state.");
  await expect(reading).rejects.toThrow(
    `Cannot read ${path}: no such file or directory. Check the path after --state.`,
  );
  await expect(reading).rejects.toBeInstanceOf(CliError);
});

test.each([
  ['\uFEFF{"a":1}', { a: 1 }],
  ["[1]\n", [1]],
  ["{", null],
  ["", null],
])("%j is %j as JSON", (text, value) => {
  expect(parseJson(text)).toEqual(value);
});
