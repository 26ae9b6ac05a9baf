import { existsSync } from "node:fs";
import { copyFile, cp, rm, writeFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import process from "node:process";
import { bundleCode } from "./bundle-code.ts";
import { readLicences } from "./read-licences.ts";
import { writeDeclarations } from "./write-declarations.ts";
import {
  packagesNamedIn,
  readManifest,
  readPackage,
  root,
  startFile,
  toTypesPath,
} from "./packed-package.ts";

// node scripts/build-package.ts [OUT], in a package's folder: builds the package for publishing
// into OUT (default: dist) and writes its manifest. In the repository, exports name the sources,
// so development needs no build. The code of private workspaces and of devDependencies is a part of
// the package's, and so are the sources, to which all maps lead.

// Fields that only the repository uses, or that are replaced below.
const dropped = "scripts devDependencies publishConfig files private imports".split(" ");

const folder = process.cwd();
const out = resolve(folder, process.argv[2] ?? "dist");
await rm(out, { recursive: true, force: true });
const workspace = readPackage(folder, out);
const { manifest, privatePackages, toPacked } = workspace;
const { publishConfig = {}, dependencies = {}, peerDependencies = {}, bin = {} } = manifest;
/** The source of each condition of `imports`; a package has one name there at most. */
const conditions = Object.values(manifest.imports ?? {})[0] ?? {};
const variants = Object.entries(publishConfig.variants ?? { node: {} });
// Entries in `testing/` are for this repository alone.
const exported = Object.entries(manifest.exports ?? {}).filter(
  ([, path]) => !path.startsWith("./src/testing/"),
);
const toName = (key: string) => (key === "." ? "index" : key.slice(2));
const [programName = "", program] = Object.entries(bin)[0] ?? [];
const privateNames = new Set(privatePackages.map((one) => one.manifest.name));
// The build bundles the scripts of pages, which in the repository each program does.
const privateDependencies = privatePackages
  .flatMap((one) => Object.entries(one.manifest.dependencies ?? {}))
  .filter(([name]) => name !== "esbuild");

for (const { path } of [{ path: folder }, ...privatePackages]) await copySources(path);
const libraries = await bundleAll();
if (exported.length > 0) {
  const sources = exported.map(([, path]) => path);
  await writeDeclarations({ ...workspace, sources });
}
if (program !== undefined) await writeFile(join(out, "bin.js"), startFile("main.js", manifest));
await writeFile(join(out, "package.json"), `${JSON.stringify(toPublished(), null, 2)}\n`);
for (const name of ["README.md", "LICENSE", "CHANGELOG.md", ...(program ? [".env.example"] : [])]) {
  // Or those of the repository; a package has no changelog before its first release.
  const own = [join(folder, name), join(root, name)].find((path) => existsSync(path));
  if (own !== undefined) await copyFile(own, join(out, name));
}
if (libraries.size > 0) {
  await writeFile(join(out, "LICENSES.txt"), await readLicences([...libraries]));
}

/** Bundles the code of all variants, and returns the folders of the libraries in it. */
async function bundleAll(): Promise<Set<string>> {
  const libraries = new Set<string>();
  const packages = { ...dependencies, ...peerDependencies };
  const external = [...Object.keys(packages), ...privateDependencies.map(([name]) => name)];
  const entries = Object.fromEntries(exported.map(([key, path]) => [toName(key), path]));
  for (const [index, [condition, variant]] of variants.entries()) {
    const found = await bundleCode(
      {
        ...workspace,
        ...variant,
        out: index === 0 ? out : join(out, condition),
        entries: program === undefined ? entries : { ...entries, main: program },
        external: external.filter((name) => !privateNames.has(name)),
        condition: manifest.imports === undefined ? null : condition,
      },
      publishConfig.alone ?? [],
    );
    for (const library of found) libraries.add(library);
  }
  return libraries;
}

/** Copies sources without tests. */
async function copySources(path: string): Promise<void> {
  const source = join(path, "src");
  const target = join(out, toPacked(source) ?? "");
  if (existsSync(source)) await cp(source, target, { recursive: true, filter: isPacked });
}

function isPacked(file: string): boolean {
  return !/\.test(-d)?\.|[/\\](testing|__snapshots__)$/.test(file);
}

/** Returns the manifest of the published package, relative to its own folder. */
function toPublished(): object {
  const kept = Object.entries(manifest).filter(([field]) => !dropped.includes(field));
  const entries = exported.map(([key, path]): [string, object] => [
    key,
    { types: `./${toTypesPath(path.slice(2))}`, ...codeOf(toName(key)) },
  ]);
  const main = manifest.exports?.["."]?.slice(2);
  return {
    ...Object.fromEntries(kept),
    types: main && `./${toTypesPath(main)}`, // for TypeScript's resolution "node10", which reads no exports
    ...addressesFrom(readManifest(root)["repository"]),
    dependencies: { ...toDependencies(), ...publishConfig.dependencies },
    exports: { ...Object.fromEntries(entries), "./package.json": "./package.json" },
    ...(program !== undefined && { bin: { [programName]: "./bin.js" } }),
  };
}

/** Returns the file of an entry by each condition of `imports`, else by default. */
function codeOf(name: string): object {
  const files = Object.entries({ default: "", ...conditions }).map(([condition, source]) => {
    const at = variants.findIndex(([variant]) => conditions[variant] === source);
    return [condition, at < 1 ? `./${name}.js` : `./${variants[at]?.[0]}/${name}.js`];
  });
  // The default is the last.
  const { default: last, ...others } = Object.fromEntries(files) as Record<string, string>;
  return { ...others, default: last };
}

/**
 * Returns the published workspaces that the package depends on, and as ranges the libraries that its
 * code names. Runs without a network load the emulator, which triage does not name.
 */
function toDependencies(): Record<string, string> {
  const all = { ...Object.fromEntries(privateDependencies), ...dependencies };
  const named = packagesNamedIn(out, Object.keys(all));
  const lists = variants.map(([, variant]) => variant.inlined ?? []);
  const isInlined = (name: string) => lists.every((list) => list.includes(name));
  const ranges = Object.entries(all).flatMap(([name, version]): [string, string][] => {
    if (privateNames.has(name)) return [];
    if (name.startsWith("evaluator-")) return [[name, version]];
    return named.includes(name) && !isInlined(name) ? [[name, `^${version}`]] : [];
  });
  return Object.fromEntries(ranges.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/**
 * Returns the addresses of the repository, its page and its issues, from the field `repository` of
 * the root's package.json; empty while that is a placeholder.
 */
function addressesFrom(repository: unknown): object {
  const name = /^github:(?!OWNER\/)(.+)$/.exec(String(repository))?.[1];
  if (name === undefined) return {};
  const directory = relative(root, folder).split("\\").join("/");
  const page = `https://github.com/${name}`;
  return {
    repository: { type: "git", url: `git+${page}.git`, directory },
    homepage: `${page}/tree/main/${directory}#readme`,
    bugs: `${page}/issues`,
  };
}
