import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CliError } from "./errors.ts";
import { parseJson, readParsedFile, readTextFile } from "./read-text-file.ts";
import { temporaryFolder } from "./testing/test-context.ts";

test("a file of text is read as it is", async () => {
  const path = join(await temporaryFolder(), "a.txt");
  await writeFile(path, "\uFEFFé\r\n");
  expect(await readTextFile(path)).toBe("\uFEFFé\r\n");
});

test("a file that cannot be read is named, with why and what to do", async () => {
  const path = join(await temporaryFolder(), "none.txt");
  const reading = readTextFile(path, "It is of --state.");
  await expect(reading).rejects.toThrow(
    `Cannot read ${path}: no such file or directory. Check the path. It is of --state.`,
  );
  await expect(reading).rejects.toBeInstanceOf(CliError);
});

test("a file is parsed, and named with why it cannot be and what to do", async () => {
  const path = join(await temporaryFolder(), "a.json");
  const parse = (text: string) => {
    if (text === "") throw new Error("is empty");
    return text.length;
  };
  const read = () => readParsedFile(path, { fileName: "--count a.json", parse, advice: "Count." });
  const fails = async (message: string) =>
    expect(read()).rejects.toMatchObject({ name: "CliError", message });
  await fails("--count a.json cannot be read: no such file or directory. Count.");
  await writeFile(path, "");
  await fails("--count a.json is empty. Count.");
  await expect(readParsedFile(path, { parse, advice: "Count." })).rejects.toThrow(path);
  await writeFile(path, "four");
  expect(await read()).toBe(4);
});

test.each([
  ['\uFEFF{"a":1}', { a: 1 }],
  ["[1]\n", [1]],
  ["{", null],
  ["", null],
])("%j is %j as JSON", (text, value) => {
  expect(parseJson(text)).toEqual(value);
});
