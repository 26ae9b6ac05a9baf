import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join, relative, resolve } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { startFile } from "./start-file.ts";
import {
  packagesNamedIn,
  inlinePrivate,
  type Manifest,
  type PrivatePackage,
  readPrivatePackages,
} from "./private-packages.ts";

// node scripts/build-package.ts [OUT], in a package's folder: compiles the package for publishing
// into OUT (default: dist) and writes its manifest. In the repository, exports name the sources,
// so development needs no build. Private workspaces are compiled into the package, because users
// cannot install them.

// Fields that only the repository uses, or that are replaced below.
const dropped = new Set(["scripts", "devDependencies", "publishConfig", "files", "private"]);

/** Returns the manifest of the published package, relative to its own folder. */
function toPublished(
  { publishConfig, ...manifest }: Manifest,
  { addresses, inlined }: { addresses: object; inlined: readonly PrivatePackage[] },
): object {
  const kept = Object.entries(manifest).filter(([field]) => !dropped.has(field));
  const published = Object.fromEntries(kept);
  const { imports, bin, dependencies = {} } = manifest;
  const exports = publishedExports(manifest);
  return {
    ...published,
    ...addresses,
    dependencies: { ...toDependencies(dependencies, inlined), ...publishConfig?.dependencies },
    ...(imports !== undefined && { imports: compiled(imports) }),
    exports: { ...(compiled(exports) as object), "./package.json": "./package.json" },
    ...(bin !== undefined && { bin: mapStrings(bin, toStartPath) }),
  };
}

/** Returns the exports without those in `testing/`, which only this repository uses. */
function publishedExports({ exports }: Manifest): object {
  const entries = Object.entries(exports ?? {});
  return Object.fromEntries(
    entries.filter(([, path]) => !String(path).startsWith("./src/testing/")),
  );
}

/**
 * Returns the dependencies of the package and of the code compiled into it; libraries as a range.
 */
function toDependencies(
  own: Readonly<Record<string, string>>,
  inlined: readonly PrivatePackage[],
): Record<string, string> {
  const names = new Set(inlined.map(({ name }) => name));
  const theirs = inlined.flatMap(({ manifest }) => Object.entries(manifest.dependencies ?? {}));
  const libraries = theirs.map(([name]) => name);
  const named = new Set(packagesNamedIn(join(out, "private"), libraries));
  const all = theirs.filter(([name]) => named.has(name));
  const entries = [...Object.entries(own), ...all].filter(([name]) => !names.has(name));
  const ranges = entries.map(([name, version]): [string, string] => [
    name,
    name.startsWith("evaluator-") ? version : `^${version}`,
  ]);
  return Object.fromEntries(ranges.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/**
 * Returns the addresses of the repository, its page and its issues, from the field `repository` of
 * the root's package.json; empty while that is a placeholder.
 */
function addressesFrom(repository: unknown, directory: string): object {
  const name = /^github:(?!OWNER\/)(.+)$/.exec(String(repository))?.[1];
  if (name === undefined) return {};
  const page = `https://github.com/${name}`;
  return {
    repository: { type: "git", url: `git+${page}.git`, directory },
    homepage: `${page}/tree/main/${directory}#readme`,
    bugs: `${page}/issues`,
  };
}

/** Returns conditions in which each source file is its types and its code. */
function compiled(conditions: unknown): unknown {
  return mapStrings(conditions, (path) =>
    path.endsWith(".ts")
      ? { types: toCompiledPath(path, ".d.ts"), default: toCompiledPath(path, ".js") }
      : path,
  );
}

function toCompiledPath(path: string, extension: string): string {
  return path.replace(/^\.\/src\//, "./").replace(/\.ts$/, extension);
}

/** Returns the file that checks the version of Node before it loads a program: `start-main.js`. */
function toStartPath(path: string): string {
  return toCompiledPath(path, ".js").replace(/[^/]+$/, "start-$&");
}

function mapStrings(value: unknown, map: (text: string) => unknown): unknown {
  if (typeof value === "string") return map(value);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, nested]) => [key, mapStrings(nested, map)]),
  );
}

/** Returns the source files that a manifest's field names. */
function sourcesIn(value: unknown): string[] {
  const found: string[] = [];
  mapStrings(value, (path) => (path.endsWith(".ts") ? found.push(path) : path));
  return found;
}

/** A workspace to compile, its entry files and the output folder. */
interface Compilation {
  readonly folder: string;
  readonly entries: readonly string[];
  readonly outDir: string;
}

/**
 * Compiles the files that entries import. One compiler for all workspaces takes half the time of
 * one for each, because they share the libraries' declarations.
 */
async function compile(compilations: readonly Compilation[]): Promise<void> {
  const cache = join(root, "node_modules", ".cache");
  await mkdir(cache, { recursive: true });
  const own = await mkdtemp(join(cache, "build-"));
  const paths = compilations.map((_, index) => join(own, `${index}.json`));
  try {
    for (const [index, compilation] of compilations.entries()) {
      const config = toConfig(compilation, join(own, `${index}.tsbuildinfo`));
      await writeFile(paths[index] ?? "", JSON.stringify(config));
    }
    // Without its garbage collection a third less processor time, for some 100 MB.
    const env = { ...process.env, GOGC: "off" };
    const words = [compiler, "--build", ...paths];
    await promisify(execFile)(process.execPath, words, { cwd: folder, env });
  } catch (error) {
    process.stderr.write(`${(error as { stdout?: string }).stdout ?? String(error)}\n`);
    process.exit(1);
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

function toConfig({ folder, entries, outDir }: Compilation, tsBuildInfoFile: string): object {
  return {
    extends: join(root, "tsconfig.base.json"),
    compilerOptions: {
      noEmit: false,
      // Lint checks the types of the whole repository; again here they take two thirds of the time.
      noCheck: true,
      singleThreaded: true,
      rootDir: join(folder, "src"),
      outDir,
      tsBuildInfoFile,
      // Programs export nothing. A map of declarations would lead to sources that are not packed.
      declaration: manifest["exports"] !== undefined,
      sourceMap: true,
      inlineSources: true,
    },
    files: [...new Set(entries)].map((entry) => join(folder, entry)),
    include: [],
  };
}

async function readManifest(path: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(path, "package.json"), "utf8")) as Manifest;
}

const root = dirname(import.meta.dirname);
const folder = process.cwd();
const out = resolve(folder, process.argv[2] ?? "dist");
const compiler = join(
  dirname(createRequire(import.meta.url).resolve("typescript/package.json")),
  "bin/tsc",
);
await rm(out, { recursive: true, force: true });
const manifest = await readManifest(folder);
const inlined = await readPrivatePackages(manifest, { folder, root });
const { imports, bin } = manifest;
await compile([
  { folder, entries: sourcesIn([publishedExports(manifest), imports, bin]), outDir: out },
  ...inlined.map(({ path, entries, name }) => {
    return {
      folder: path,
      entries: [...entries.values()].filter((entry) => entry.endsWith(".ts")),
      outDir: join(out, "private", name, "src"),
    };
  }),
]);
for (const { name, path, data } of inlined) {
  const target = join(out, "private", name);
  for (const file of data) await cp(join(path, file), join(target, file), { recursive: true });
}
await inlinePrivate(out, inlined);
for (const path of sourcesIn(bin)) {
  const program = basename(toCompiledPath(path, ".js"));
  await writeFile(join(out, toStartPath(path)), startFile(program, manifest));
}
const { repository } = await readManifest(root);
const addresses = addressesFrom(repository, relative(root, folder).split("\\").join("/"));
const published = toPublished(manifest, { addresses, inlined });
await writeFile(join(out, "package.json"), `${JSON.stringify(published, null, 2)}\n`);
for (const name of ["README.md", "LICENSE", "CHANGELOG.md"]) {
  // Or those of the repository; a package has no changelog before its first release.
  const paths = [join(folder, name), join(root, name)];
  const own = paths.find((path) => existsSync(path));
  if (own !== undefined) await copyFile(own, join(out, name));
}
