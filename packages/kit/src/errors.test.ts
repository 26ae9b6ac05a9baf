import { open, readFile } from "node:fs/promises";
import { getSystemErrorMap } from "node:util";
import { expect, test } from "vitest";
import {
  checkName,
  CliError,
  describeSystemError,
  InterruptedError,
  isBrokenPipe,
  toFileError,
  UsageError,
} from "./errors.ts";

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => null,
    (error: unknown) => error,
  );
}

test("an error of another package's copy of a class is one of this copy", () => {
  const own = { CliError, UsageError, InterruptedError };
  const kindsOf = (error: unknown) =>
    Object.entries(own).flatMap(([name, kind]) => (error instanceof kind ? [name] : []));
  const copyOf = () => {
    class CliError extends Error {}
    class UsageError extends CliError {}
    return { CliError, UsageError };
  };
  const copy = copyOf();
  expect(kindsOf(new copy.CliError())).toEqual(["CliError"]);
  expect(kindsOf(new copy.UsageError())).toEqual(["CliError", "UsageError"]);
  expect(kindsOf(new InterruptedError("SIGINT"))).toEqual(["CliError", "InterruptedError"]);
  for (const other of [new Error("no"), new TypeError("no"), null, undefined, "CliError", {}]) {
    expect(kindsOf(other)).toEqual([]);
  }
});

test("an unknown name lists the known ones, of many the most like it first", () => {
  const columns = Array.from({ length: 30 }, (_, at) => `column-${at}`);
  expect(() => checkName("column", "column-2", columns)).not.toThrow();
  expect(() => checkName("column", "subject", ["id", "subjects"])).toThrow(
    'There is no column "subject"; there are id, subjects.',
  );
  expect(() => checkName("column", "subject", [...columns, "subjects"])).toThrow(
    /there are subjects, column-0, column-1, .*, column-18, and 11 more\.$/,
  );
});

test("the operating system's reason is in words", async () => {
  expect(describeSystemError(await errorOf(readFile("/no/such/file")))).toBe(
    "no such file or directory",
  );
  expect(describeSystemError(new Error("other"))).toBeNull();
});

test("a file that cannot be opened is named without its escapes, with what to do", async () => {
  const error = await errorOf(open("/no/such/file"));
  const told = toFileError(error, "read \u001b[31mfile");
  expect(told).toBeInstanceOf(CliError);
  expect(told).toMatchObject({
    message: "Cannot read file: no such file or directory. Check the path.",
    cause: error,
  });
});

test.each([
  ["EACCES", "Check the rights of the file and its folder."],
  ["EISDIR", "Name a file, not a folder."],
  ["ENOSPC", "Make room there and try again."],
  ["EIO", "Check the disk and try again."],
])("the next step after %s is: %s", (code, next) => {
  const [errno] = [...getSystemErrorMap()].find(([, [name]]) => name === code) ?? [];
  const error = Object.assign(new Error(code), { code, errno });
  expect(toFileError(error, "write a.json", "b.json is unchanged.")).toMatchObject({
    message: expect.stringMatching(new RegExp(`^Cannot write a.json: .*\\. ${next} b.json is `)),
  });
});

test.each([
  ["EPIPE", true],
  ["EOF", true],
  ["ENOSPC", false],
])("%s of a write means that its reader left: %s", (code, isBroken) => {
  expect(isBrokenPipe(Object.assign(new Error(`write ${code}`), { code }))).toBe(isBroken);
});

test("any other error passes as it is", () => {
  const error = new TypeError("no file");
  expect(toFileError(error, "read")).toBe(error);
});
