import { globSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { expect, test } from "vitest";

const root = dirname(import.meta.dirname);
const workspaces = globSync("{packages,apps}/*/package.json", { cwd: root }).map(dirname);

/** The modules that each file or folder imports, types included; without file endings. */
type Imports = ReadonlyMap<string, readonly string[]>;

const form = /(?:\bfrom |\bimport |\bimport\(|\bresolve\(|\bnew URL\()["'`]([^"'`\n]+)["'`]/g;

// With the files that a text names by `new URL`.
function specifiersIn(text: string): string[] {
  const code = text.replace(/^ *(?:\/?\*|\/\/).*$/gm, "");
  return [...code.matchAll(form)].map(([match, specifier = ""]) =>
    match.startsWith("new URL") && !specifier.startsWith(".") ? `./${specifier}` : specifier,
  );
}

function readManifest(workspace: string) {
  return JSON.parse(readFileSync(join(root, workspace, "package.json"), "utf8")) as {
    name: string;
    imports?: Record<string, Record<string, string>>;
  };
}

function readImports(workspace: string): Imports {
  const cwd = join(root, workspace, "src");
  const { name, imports = {} } = readManifest(workspace);
  const files = globSync("**/*.ts", { cwd }).filter(
    (file) => !/\.test(?:-d)?\.ts$|(?:^|[/\\])testing[/\\]/.test(file),
  );
  const targetsOf = (specifier: string, file: string): string[] => {
    if (specifier.startsWith("#")) return Object.values(imports[specifier] ?? {});
    if (specifier.startsWith(".")) return [posix.join(dirname(file), specifier)];
    return specifier.split("/")[0] === name ? [file] : [`>${specifier}`]; // itself: a circle
  };
  return new Map(
    files.map((file) => {
      const specifiers = specifiersIn(readFileSync(join(cwd, file), "utf8"));
      const targets = specifiers.flatMap((specifier) => targetsOf(specifier, file));
      return [withoutEnding(file), targets.map(withoutEnding)];
    }),
  );
}

function withoutEnding(path: string): string {
  return path.replace(/^\.\/src\//, "").replace(/\.\w+$/, "");
}

// With the names that lead to a circle.
function circlesIn(imports: Imports): string[] {
  const open = new Map(imports);
  for (let size = Infinity; open.size < size;) {
    size = open.size;
    for (const [name, targets] of open) {
      if (!targets.some((target) => open.has(target))) open.delete(name);
    }
  }
  return [...open.keys()];
}

/** Returns the imports between the children of a folder, each of which counts as one. */
function importsWithin(folder: string, imports: Imports): Imports {
  const childOf = (file: string) =>
    file.startsWith(folder) ? /^[^/]*\/?/.exec(file.slice(folder.length))?.[0] : undefined;
  const within = new Map<string, string[]>();
  for (const [file, targets] of imports) {
    const child = childOf(file);
    if (child === undefined) continue;
    const others = targets.flatMap((target) => childOf(target) ?? []);
    within.set(child, [...(within.get(child) ?? []), ...others.filter((name) => name !== child)]);
  }
  return within;
}

test.each([...workspaces, "benchmarks"])(
  "no files and no folders of %s import each other",
  (workspace) => {
    const imports = readImports(workspace);
    expect(imports.size).toBeGreaterThan(3);
    expect(circlesIn(imports)).toEqual([]);
    const folders = globSync("**/", { cwd: join(root, workspace, "src") });
    const prefixes = folders.map((folder) => (folder === "." ? "" : `${folder}/`));
    const circles = prefixes.map((prefix) => circlesIn(importsWithin(prefix, imports)));
    expect(circles.flat()).toEqual([]);
  },
);

test.each(workspaces)("%s imports only exports of other workspaces", (workspace) => {
  const cwd = join(root, workspace);
  const paths = globSync(["{src,tests}/**/*.ts", "*.ts"], { cwd }).flatMap((file) => {
    const specifiers = specifiersIn(readFileSync(join(cwd, file), "utf8"));
    return specifiers
      .filter((name) => name.startsWith("."))
      .map((name) => posix.join(dirname(file), name));
  });
  // A test may start the program of another workspace.
  expect(paths.filter((path) => /^\.\.\/.*(?<!\/main)\.ts$/.test(path))).toEqual([]);
});

test("ARCHITECTURE.md lists every workspace above those that it imports, and names these", () => {
  const plan = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
  const rows = [...plan.matchAll(/^\| `((?:packages|apps)\/[\w-]+)` +\|[^|]*\|([^|]*)\|$/gm)];
  expect(rows.map(([, folder = ""]) => folder).toSorted()).toEqual(workspaces.toSorted());
  const below = new Set(["fixtures"]);
  for (const [, folder = "", cell = ""] of rows.toReversed()) {
    const targets = [...readImports(folder).values()].flat();
    const names = targets.flatMap((target) => /^>evaluator-([\w-]+)/.exec(target)?.[1] ?? []);
    const imports = [...new Set(names)].toSorted();
    expect({ folder, imports }).toEqual({ folder, imports: cell.match(/\w+/g)?.toSorted() ?? [] });
    expect(imports.filter((name) => !below.has(name))).toEqual([]);
    below.add(readManifest(folder).name.slice("evaluator-".length));
  }
});

test("an import is seen in each form, and a circle of folders where no two files are on one", () => {
  const text =
    'import "./a.ts"; import type { B } from \'./b.ts\'; export * from "#c"; await import(`./d.ts`);\n';
  expect(specifiersIn(`${text}// from "./no.ts"\nnew URL("e.ts", import.meta.url)`)).toEqual([
    "./a.ts",
    "./b.ts",
    "#c",
    "./d.ts",
    "./e.ts",
  ]);
  const imports = new Map([
    ["a/one", ["b/one"]],
    ["b/two", ["a/two"]],
    ["a/two", []],
    ["b/one", []],
  ]);
  expect(circlesIn(imports)).toEqual([]);
  expect(circlesIn(importsWithin("", imports))).toEqual(["a/", "b/"]);
});
