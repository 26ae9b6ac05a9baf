import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const root = dirname(import.meta.dirname);
const plan = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");

/** A path that the plan names, and the names that stand in brackets after it. */
interface NamedPath {
  readonly path: string;
  readonly names: readonly string[];
}

/** Returns the paths that the plan names: from the root, else from the folder last named. */
function namedPaths(): NamedPath[] {
  let folder = "";
  const paths: NamedPath[] = [];
  for (const [, name = "", names = ""] of plan.matchAll(/`([^`\n*]+)`(?:\s+\(([^)]*)\))?/g)) {
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
  expect(paths.length).toBeGreaterThan(80);
});

test("what the plan names in a file is declared there", () => {
  const missing = namedPaths().flatMap(({ path, names }) => {
    const text = names.length === 0 ? "" : readFileSync(join(root, path), "utf8");
    return names.filter((name) => !isDeclared(name, text)).map((name) => `${path}: ${name}`);
  });
  expect(missing).toEqual([]);
  expect(namedPaths().flatMap(({ names }) => names).length).toBeGreaterThan(40);
});

function isDeclared(name: string, text: string): boolean {
  const kind = String.raw`(?:function\*?|class|const|interface|type)\s+${name}\b`;
  const member = String.raw`^\s+(?:async |readonly )*${name}\??[(:]`;
  return new RegExp(`${kind}|${member}`, "m").test(text);
}

test("the map has every workspace above those it imports, and names all of these", () => {
  const rows = plan.matchAll(/^\| `([\w/-]+)` +\|[^|]*\|([^|]*)\|$/gm);
  const map = [...rows].map(([, folder = "", imports = ""]) => {
    return { folder, imports: imports.split(",").map((name) => name.trim()) };
  });
  const manifests = globSync(["{packages,apps}/*/package.json", "fixtures/package.json"], {
    cwd: root,
  });
  expect(map.map(({ folder }) => folder).toSorted()).toEqual(manifests.map(dirname).toSorted());
  const below = new Set([""]);
  for (const { folder, imports } of map.toReversed()) {
    expect(imports.filter((name) => !below.has(name))).toEqual([]);
    expect({ folder, imports: imports.toSorted() }).toEqual({ folder, imports: importsOf(folder) });
    below.add(shortName(folder));
  }
});

function shortName(folder: string): string {
  const manifest = readFileSync(join(root, folder, "package.json"), "utf8");
  return (JSON.parse(manifest) as { name: string }).name.replace("evaluator-", "");
}

/** Returns the other workspaces that a workspace imports, without the word that all names have. */
function importsOf(folder: string): string[] {
  const cwd = join(root, folder, "src");
  const files = globSync("**/*.ts", { cwd }).filter((file) => !/\.test|testing[/\\]/.test(file));
  const found = files.flatMap((file) =>
    [...readFileSync(join(cwd, file), "utf8").matchAll(importPattern)].map(([, name = ""]) => name),
  );
  const own = shortName(folder);
  const others = [...new Set(found)].filter((name) => name !== own);
  return others.length === 0 ? [""] : others.toSorted();
}

// The lines of doc comments begin with a star.
const importPattern =
  /^(?! *\*).*(?:\bfrom |\bimport\(|\bimport |\bresolve\()"evaluator-([\w-]+)/gm;
