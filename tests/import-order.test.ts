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

/** Returns the place of a file: the longest declared name that it is or is in. */
function placeOf(file: string, places: Iterable<string>): string | undefined {
  const path = `${file.replaceAll("\\", "/").replace(/\.ts$/, "")}/`;
  const names = [...places].filter((name) => path.startsWith(`${name}/`));
  return names.toSorted((one, other) => other.length - one.length)[0];
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
  const places = new Map([...imports.keys()].map((file) => [file, placeOf(file, heights.keys())]));
  expect([...places].filter(([, place]) => place === undefined)).toEqual([]);
  const heightOf = (file: string) => heights.get(places.get(file) ?? "") ?? Number.NaN; // below none
  const upward = [...imports].flatMap(([file, targets]) =>
    targets
      .filter((target) => places.get(file) !== places.get(target))
      .filter((target) => !(heightOf(target) < heightOf(file)))
      .map((target) => `${file} imports ${target}`),
  );
  expect(upward).toEqual([]);
  expect(circlesIn(imports)).toEqual([]);
});

test("every workspace has its order", () => {
  const manifests = ["{packages,apps}/*/package.json", "fixtures/package.json"];
  const workspaces = globSync(manifests, { cwd: root }).map((file) => dirname(file));
  expect(Object.keys(importOrder).toSorted()).toEqual(workspaces.toSorted());
});
