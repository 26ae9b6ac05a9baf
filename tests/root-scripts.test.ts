import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const root = dirname(import.meta.dirname);
const names =
  "bench build check dev docs docs:build emulator evaluator mutants release router simulate start test triage";

test("the root has few scripts, and others as aliases of the router and of the tests", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  const others = Object.keys(scripts).filter((name) => !/^(?:router|test):/.test(name));
  // npm runs it after an installation; people do not.
  expect(new Set(others)).toEqual(new Set([...names.split(" "), "postinstall"]));
});
