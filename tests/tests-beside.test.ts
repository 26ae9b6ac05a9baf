import { globSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const cwd = dirname(import.meta.dirname);

// Whole programs against clients and faults, which no one source causes.
const wholePrograms = [
  "apps/router/src/raw-http",
  "packages/evaluator-client/src/failures",
  "packages/evaluator-emulator/src/conformance",
];

test("a folder with tests has a source", () => {
  const tests = globSync("{packages,apps}/*/src/**/*.test.ts", { cwd });
  const folders = [...new Set(tests.map((file) => dirname(file)))].toSorted();
  const isBare = (folder: string) =>
    globSync("*.ts", { cwd: join(cwd, folder) }).every((file) => file.endsWith(".test.ts"));
  expect(folders.filter(isBare)).toEqual(wholePrograms);
});
