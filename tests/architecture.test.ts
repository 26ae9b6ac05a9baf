import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const root = dirname(import.meta.dirname);
const plan = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");

/** A path that the plan names, and the names in brackets after it. */
interface NamedPath {
  readonly path: string;
  readonly names: readonly string[];
}

/** Returns the paths that the plan names: from the root, else from the folder last named. */
function namedPaths(text = plan): NamedPath[] {
  let folder = "";
  const paths: NamedPath[] = [];
  for (const [, name = "", names = ""] of text.matchAll(/`([^`\n*]+)`(?:\s+\(([^)]*)\))?/g)) {
    if (/^(?:packages|apps)\/[\w-]+\/src$/.test(name)) folder = name;
    if (!/^[\w./-]+(?:\.(?:ts|md)|\/)$/.test(name)) continue;
    const path = existsSync(join(root, name)) ? name : join(folder, name);
    const words = path.endsWith(".ts") ? [...names.matchAll(/`([#\w]+)`/g)] : [];
    paths.push({ path, names: words.map(([, word = ""]) => word) });
  }
  return paths;
}

test("the plan names only files and folders that exist", () => {
  const paths = namedPaths();
  expect(paths.filter(({ path }) => !existsSync(join(root, path)))).toEqual([]);
  expect(paths.length).toBeGreaterThan(60);
});

test("the core has at most 12,000 lines", () => {
  const [, core = ""] = /## The core\n(.*?)\n## /s.exec(plan) ?? [];
  const files = namedPaths(core).flatMap(({ path }) =>
    path.endsWith(".ts") ? [path] : globSync(`${path}**/*.ts`, { cwd: root }),
  );
  const own = new Set(files.filter((file) => !/\.test(?:-d)?\.ts$|\/testing\//.test(file)));
  const lines = [...own].map(
    (file) => readFileSync(join(root, file), "utf8").split("\n").length - 1,
  );
  expect(lines.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(12_000);
  expect(own.size).toBeGreaterThan(60);
});

test("what the plan names in a file is declared there", () => {
  const missing = namedPaths().flatMap(({ path, names }) => {
    const text = names.length === 0 ? "" : readFileSync(join(root, path), "utf8");
    return names.filter((name) => !isDeclared(name, text)).map((name) => `${path}: ${name}`);
  });
  expect(missing).toEqual([]);
  expect(namedPaths().flatMap(({ names }) => names).length).toBeGreaterThan(30);
});

function isDeclared(name: string, text: string): boolean {
  const kind = String.raw`(?:function\*?|class|const|interface|type)\s+${name}\b`;
  const member = String.raw`^\s+(?:async |readonly )*${name}\??[(:]`;
  return new RegExp(`${kind}|${member}`, "m").test(text);
}
