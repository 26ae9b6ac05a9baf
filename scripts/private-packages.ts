import { globSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";

/** The fields of a package.json that the build reads. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly files?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly engines?: { readonly node?: string };
  readonly publishConfig?: { readonly dependencies?: Readonly<Record<string, string>> };
  readonly [field: string]: unknown;
}

/** A workspace that is not published, and is compiled into each package that needs it. */
export interface PrivatePackage {
  readonly name: string;
  /** Its folder. */
  readonly path: string;
  readonly manifest: Manifest;
  /** The source file of each of its entry points that is used, by the name that imports it. */
  readonly entries: ReadonlyMap<string, string>;
  /** Files and folders beside its sources that it reads. */
  readonly data: readonly string[];
}

/** Returns the private workspaces that a package's sources import, directly or through each other. */
export async function readPrivatePackages(
  { dependencies = {} }: Manifest,
  { folder, root }: { readonly folder: string; readonly root: string },
): Promise<PrivatePackage[]> {
  const workspaces = new Map<string, { path: string; manifest: Manifest }>();
  for (const file of globSync(["packages/*/package.json", "fixtures/package.json"], {
    cwd: root,
  })) {
    const manifest = JSON.parse(await readFile(join(root, file), "utf8")) as Manifest;
    workspaces.set(manifest.name, { path: join(root, dirname(file)), manifest });
  }
  const found = new Map<string, PrivatePackage>();
  const wanted = Object.keys(dependencies);
  const imported = new Set<string>();
  addImports(folder, imported);
  for (let name = wanted.shift(); name !== undefined; name = wanted.shift()) {
    const workspace = workspaces.get(name);
    if (workspace?.manifest.private !== true || found.has(name)) continue;
    const { path, manifest } = workspace;
    addImports(path, imported);
    const exports = Object.entries(manifest["exports"] as Record<string, string>);
    const specifiers = exports.map(([key, file]): [string, string] => [name + key.slice(1), file]);
    const entries = new Map(specifiers.filter(([specifier]) => imported.has(specifier)));
    found.set(name, { name, path, manifest, entries, data: manifest.files ?? [] });
    wanted.push(...Object.keys(manifest.dependencies ?? {}));
  }
  return [...found.values()];
}

/** Adds the imports of a workspace's sources, without tests and their helpers. */
function addImports(folder: string, imported: Set<string>): void {
  for (const file of globSync("src/**/*.ts", { cwd: folder })) {
    if (/\.test(?:-d)?\.ts$|\btesting\b/.test(file)) continue;
    const text = readFileSync(join(folder, file), "utf8");
    for (const [, , specifier = ""] of text.matchAll(specifierPattern)) imported.add(specifier);
  }
}

const specifierPattern = /(\bfrom |\bimport\(|\bimport\.meta\.resolve\(|\bimport )"([^"\n]+)"/g;

/** Rewrites the imports of private packages in compiled code to the copies beside it. */
export async function inlinePrivate(
  out: string,
  packages: readonly PrivatePackage[],
): Promise<void> {
  const entries = new Map(
    packages.flatMap(({ name, entries: own }) => {
      return [...own].map(([specifier, file]): [string, string] => [
        specifier,
        join(out, "private", name, file.replace(/\.ts$/, ".js")),
      ]);
    }),
  );
  if (entries.size === 0) return;
  for (const file of globSync("**/*.{js,d.ts}", { cwd: out })) {
    const path = join(out, file);
    const text = await readFile(path, "utf8");
    const inlined = text.replace(specifierPattern, (whole, before: string, specifier: string) => {
      const entry = entries.get(specifier);
      if (entry === undefined) return whole;
      const target = relative(dirname(path), entry).split("\\").join("/");
      return `${before}"${target.startsWith(".") ? target : `./${target}`}"`;
    });
    if (inlined !== text) await writeFile(path, inlined);
  }
}

/** Returns those of some packages that the code in a folder names, however it loads them. */
export function packagesNamedIn(folder: string, packages: readonly string[]): string[] {
  const texts = globSync("**/*.{js,d.ts}", { cwd: folder }).map((file) => {
    return readFileSync(join(folder, file), "utf8");
  });
  return packages.filter((name) => {
    return texts.some((text) => text.includes(`"${name}"`) || text.includes(`"${name}/`));
  });
}
