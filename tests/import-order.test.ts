import { globSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { parseSync, Visitor } from "oxc-parser";
import { expect, test } from "vitest";

const root = dirname(import.meta.dirname);

/** What each source file of a workspace imports, types included; files without their endings. */
type Imports = ReadonlyMap<string, readonly string[]>;

interface Manifest {
  readonly name: string;
  readonly imports?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

function readImports(workspace: string): Imports {
  const cwd = join(root, workspace, "src");
  const manifest = readFileSync(join(root, workspace, "package.json"), "utf8");
  const { name, imports = {} } = JSON.parse(manifest) as Manifest;
  const targetsOf = (specifier: string, folder: string): string[] => {
    if (specifier.startsWith("#")) {
      return Object.values(imports[specifier] ?? {}).map((path) => path.replace("./src/", ""));
    }
    if (specifier === name || specifier.startsWith(`${name}/`)) return [specifier];
    return specifier.startsWith(".") ? [posix.join(folder, specifier)] : [];
  };
  const files = globSync("**/*.ts", { cwd })
    .map(slashed)
    .filter((file) => !/\.test(?:-d)?\.ts$|(?:^|\/)testing\//.test(file));
  return new Map(
    files.map((file) => {
      const specifiers = specifiersIn(readFileSync(join(cwd, file), "utf8"));
      const targets = specifiers.flatMap((specifier) => targetsOf(specifier, posix.dirname(file)));
      return [withoutEnding(file), targets.map(withoutEnding)];
    }),
  );
}

function slashed(path: string): string {
  return path.replaceAll("\\", "/");
}

function withoutEnding(path: string): string {
  return path.replace(/\.\w+$/, "");
}

/** Returns the modules that a text imports, in whatever form, and the files it names by their URL. */
function specifiersIn(text: string): string[] {
  const { module, program } = lazilyParsed(text);
  const found = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
    ),
  ];
  // Nine files of ten have no such word, and their tree need not be made.
  if (!/\bimport\s*[(.]/.test(text)) return found;
  new Visitor({
    ImportExpression: ({ source }) => found.push(...literalText(source)),
    TSImportType: ({ source }) => found.push(source.value),
    NewExpression({ callee, arguments: [path, base] }) {
      const isUrl = callee.type === "Identifier" && callee.name === "URL";
      if (!isUrl || path === undefined || base?.type !== "MemberExpression") return;
      found.push(...literalText(path).map((text) => (/^[./]/.test(text) ? text : `./${text}`)));
    },
  }).visit(program());
  return found;
}

function lazilyParsed(text: string) {
  const parsed = parseSync("file.ts", text);
  return { module: parsed.module, program: () => parsed.program };
}

interface LiteralNode {
  readonly type: string;
  readonly value?: unknown;
  readonly quasis?: readonly { readonly value: { readonly raw: string } }[];
}

/** Returns a text that is written out; one with gaps comes as it is, and leads to no file. */
function literalText({ value, quasis }: LiteralNode): string[] {
  if (typeof value === "string") return [value];
  return quasis === undefined ? [] : [quasis.map(({ value: { raw } }) => raw).join("${}")];
}

/** Returns the names that are on a circle of imports or lead to one. */
function circlesIn(imports: Imports): string[] {
  const open = new Map(imports);
  let size = Number.POSITIVE_INFINITY;
  while (open.size < size) {
    size = open.size;
    for (const [name, targets] of open) {
      if (!targets.some((target) => open.has(target))) open.delete(name);
    }
  }
  return [...open.keys()];
}

/** Returns the imports between what stands in a folder, of which each folder counts as one. */
function importsWithin(folder: string, imports: Imports): Imports {
  const within = new Map<string, string[]>();
  const childOf = (file: string) =>
    file.startsWith(folder) ? /^[^/]*\/?/.exec(file.slice(folder.length))?.[0] : undefined;
  for (const [file, targets] of imports) {
    const child = childOf(file);
    if (child === undefined) continue;
    const others = targets.map(childOf).filter((name) => name !== undefined && name !== child);
    within.set(child, [...(within.get(child) ?? []), ...(others as string[])]);
  }
  return within;
}

function foldersOf(imports: Imports): string[] {
  const folders = [...imports.keys()].flatMap((file) => {
    const parts = file.split("/");
    return parts.map((_, depth) =>
      parts
        .slice(0, depth)
        .map((part) => `${part}/`)
        .join(""),
    );
  });
  return [...new Set(folders)];
}

const manifests = ["{packages,apps}/*/package.json", "fixtures/package.json"];
const workspaces = globSync(manifests, { cwd: root }).map((file) => slashed(dirname(file)));

test.each(workspaces)(
  "no files and no folders of %s import each other in a circle",
  (workspace) => {
    const imports = readImports(workspace);
    expect(imports.size).toBeGreaterThan(3);
    expect(circlesIn(imports)).toEqual([]);
    const circles = foldersOf(imports).map((folder) => circlesIn(importsWithin(folder, imports)));
    expect(circles.flat()).toEqual([]);
  },
);

test.each(workspaces)("%s has of other workspaces what they export", (workspace) => {
  const cwd = join(root, workspace);
  const files = globSync(["src/**/*.ts", "tests/**/*.ts", "*.ts"], { cwd });
  const paths = files.flatMap((file) =>
    specifiersIn(readFileSync(join(cwd, file), "utf8"))
      .filter((specifier) => specifier.startsWith("."))
      .map((specifier) => ({ file, path: posix.join(posix.dirname(slashed(file)), specifier) })),
  );
  // A test may start another's program, and read its data.
  const isPrivate = (path: string) =>
    path.startsWith("../") && path.endsWith(".ts") && !path.endsWith("/main.ts");
  expect(paths.filter(({ path }) => isPrivate(path))).toEqual([]);
});

test("an import is seen however it is written", () => {
  const text = `
    import "./a.ts";
    import type { B } from './b.js';
    import data from "./c.json" with { type: "json" };
    export * from "./d.ts";
    export { e } from "#e";
    const f = await import(\`./f.ts\`);
    const g = await import('./g.ts');
    let h: import("./h.ts").H;
    const i = new URL("i.ts", import.meta.url);
    const k = new URL(\`../k/\${name}.ts\`, import.meta.url);
    const none = new URL("l.ts", base);
  `;
  expect(specifiersIn(text).map((specifier) => withoutEnding(specifier))).toEqual([
    "./a",
    "./b",
    "./c",
    "./d",
    "#e",
    "./f",
    "./g",
    "./h",
    "./i",
    "../k/${}",
  ]);
});

test("two folders that import each other's files are a circle, where no two files are", () => {
  const imports = new Map([
    ["a/one", ["b/one"]],
    ["b/two", ["a/two"]],
    ["a/two", []],
    ["b/one", []],
  ]);
  expect(circlesIn(imports)).toEqual([]);
  expect(circlesIn(importsWithin("", imports))).toEqual(["a/", "b/"]);
});
