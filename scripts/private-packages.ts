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
  readonly exports?: object;
  readonly imports?: object;
  readonly bin?: object;
  readonly engines?: { readonly node?: string };
  readonly publishConfig?: { readonly dependencies?: Readonly<Record<string, string>> };
  readonly [field: string]: unknown;
}

/** A workspace that is not published, and is compiled into each package that needs it. */
type PrivatePackage = Awaited<ReturnType<typeof readPrivatePackages>>[number];

/** Returns the private workspaces that a package's sources import, directly or through each other. */
export async function readPrivatePackages(
  { dependencies = {} }: Manifest,
  { folder, root }: { readonly folder: string; readonly root: string },
) {
  const paths = globSync(["packages/*/package.json", "fixtures/package.json"], { cwd: root });
  const workspaces = paths.map((file) => {
    const manifest = JSON.parse(readFileSync(join(root, file), "utf8")) as Manifest;
    return { name: manifest.name, path: join(root, dirname(file)), manifest };
  });
  const imported = new Set(importsOf(folder));
  const wanted = new Set(Object.keys(dependencies));
  const found: ((typeof workspaces)[number] & { entries: Map<string, string> })[] = [];
  // A set yields also those that are added meanwhile.
  for (const wantedName of wanted) {
    const workspace = workspaces.find(({ name }) => name === wantedName);
    if (workspace?.manifest.private !== true) continue;
    const { name, path, manifest } = workspace;
    for (const specifier of importsOf(path)) imported.add(specifier);
    for (const dependency of Object.keys(manifest.dependencies ?? {})) wanted.add(dependency);
    const exports = Object.entries(manifest.exports ?? {});
    const specifiers = exports.map(([key, file]): [string, string] => [name + key.slice(1), file]);
    /** The source file of each entry point that is used, by the name that imports it. */
    const entries = new Map(specifiers.filter(([specifier]) => imported.has(specifier)));
    found.push({ ...workspace, entries });
  }
  return found;
}

/** Returns the imports of a workspace's sources, without tests and their helpers. */
function importsOf(folder: string): string[] {
  const files = globSync("src/**/*.ts", { cwd: folder });
  const sources = files.filter((file) => !/\.test(?:-d)?\.ts$|\btesting\b/.test(file));
  return sources.flatMap((file) => {
    const text = readFileSync(join(folder, file), "utf8");
    return Array.from(text.matchAll(specifierPattern), ([, , specifier = ""]) => specifier);
  });
}

const specifierPattern = /(\bfrom |\bimport\(|\bimport\.meta\.resolve\(|\bimport )"([^"\n]+)"/g;

/** Rewrites the imports of private packages in compiled code to the copies beside it. */
export async function inlinePrivate(
  out: string,
  packages: readonly PrivatePackage[],
): Promise<void> {
  const entries = new Map<string, string>();
  for (const { name, entries: own } of packages) {
    for (const [specifier, file] of own) {
      entries.set(specifier, join(out, "private", name, file.replace(/\.ts$/, ".js")));
    }
  }
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
