import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const root = dirname(import.meta.dirname);

/** Returns the paths that the plan names: from the root, else from the folder last named. */
function namedPaths(): string[] {
  const plan = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
  let folder = "";
  const paths: string[] = [];
  for (const [, name = ""] of plan.matchAll(/`([^`\n*]+)`/g)) {
    if (/^(?:packages|apps)\/[\w-]+\/src$/.test(name)) folder = name;
    if (!/^[\w./-]+(?:\.(?:ts|md)|\/)$/.test(name)) continue;
    paths.push(existsSync(join(root, name)) ? name : join(folder, name));
  }
  return paths;
}

test("the plan names only files and folders that exist", () => {
  const paths = namedPaths();
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  expect(paths.length).toBeGreaterThan(35);
});
