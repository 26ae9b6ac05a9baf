import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";
import { importOrder } from "./import-order.ts";

const root = dirname(import.meta.dirname);
const importPattern = /(?:\bfrom|\bimport\(|\bimport)\s*"(\.{1,2}\/[^"]+\.ts)"/g;

/** Returns each source file of a workspace and the files it imports, types included. */
function readImports(workspace: string): Map<string, string[]> {
  const cwd = join(root, workspace, "src");
  const files = globSync("**/*.ts", { cwd }).filter(
    (file) => !/\.test(?:-d)?\.ts$|(?:^|[/\\])testing[/\\]/.test(file),
  );
  return new Map(
    files.map((file) => {
      const imports = readFileSync(join(cwd, file), "utf8").matchAll(importPattern);
      return [file, [...imports].map(([, path = ""]) => normalize(join(dirname(file), path)))];
    }),
  );
}

/** Returns the folder or file right under `src` that a file belongs to. */
function placeOf(file: string): string {
  return file.split(/[/\\]/, 1).join("").replace(/\.ts$/, "");
}

/** Returns the files that are on a circle of imports or lead to one. */
function circlesIn(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const open = new Map(imports);
  let size = Number.POSITIVE_INFINITY;
  while (open.size < size) {
    size = open.size;
    for (const [file, targets] of open) {
      if (!targets.some((target) => open.has(target))) open.delete(file);
    }
  }
  return [...open.keys()];
}

test.each(Object.entries(importOrder))("the imports of %s point downward", (workspace, lines) => {
  const imports = readImports(workspace);
  const heights = new Map(
    lines.flatMap((line, height) => line.split(" ").map((place) => [place, height] as const)),
  );
  const places = new Set([...imports.keys()].map(placeOf));
  expect([...heights.keys()].toSorted()).toEqual([...places].toSorted());
  const height = (file: string) => heights.get(placeOf(file)) ?? Number.NaN; // NaN is above none
  const upward = [...imports].flatMap(([file, targets]) =>
    targets
      .filter((target) => placeOf(file) !== placeOf(target) && !(height(target) < height(file)))
      .map((target) => `${file} imports ${target}`),
  );
  expect(upward).toEqual([]);
  expect(circlesIn(imports)).toEqual([]);
});

test("every workspace has its order", () => {
  const manifests = ["{packages,apps}/*/package.json", "fixtures/package.json"];
  const workspaces = globSync(manifests, { cwd: root }).map((file) => dirname(file));
  const notYet = new Set([
    "apps/router",
    "apps/triage",
    "packages/benchmarks",
    "packages/evaluator-calibration",
    "packages/evaluator-cli",
    "packages/evaluator-client",
  ]);
  const missing = workspaces.filter((name) => !(name in importOrder) && !notYet.has(name));
  expect(missing).toEqual([]);
});
