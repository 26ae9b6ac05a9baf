import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, cp, mkdir, mkdtempDisposable, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join, relative, resolve } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { startFile } from "./start-file.ts";
import {
  packagesNamedIn,
  inlinePrivate,
  type Manifest,
  readPrivatePackages,
} from "./private-packages.ts";

// node scripts/build-package.ts [OUT], in a package's folder: compiles the package for publishing
// into OUT (default: dist) and writes its manifest. In the repository, exports name the sources,
// so development needs no build. Private workspaces are compiled into the package, because users
// cannot install them.

// Fields that only the repository uses, or that are replaced below.
const dropped = new Set(["scripts", "devDependencies", "publishConfig", "files", "private"]);

const root = dirname(import.meta.dirname);
const folder = process.cwd();
const out = resolve(folder, process.argv[2] ?? "dist");
await rm(out, { recursive: true, force: true });
const manifest = await readManifest(folder);
const inlined = await readPrivatePackages(manifest, { folder, root });
const { exports, imports, bin } = manifest;
// Entries in `testing/` are for this repository alone.
const entries = Object.entries(exports ?? {}).filter(
  ([, path]) => !String(path).startsWith("./src/testing/"),
);
await compile();
for (const { name, path, manifest } of inlined) {
  for (const file of manifest.files ?? []) {
    await cp(join(path, file), join(out, "private", name, file), { recursive: true });
  }
}
await inlinePrivate(out, inlined);
for (const path of sourcesIn(bin)) {
  const program = basename(toCompiledPath(path, ".js"));
  await writeFile(join(out, toStartPath(path)), startFile(program, manifest));
}
await writeFile(join(out, "package.json"), `${JSON.stringify(await toPublished(), null, 2)}\n`);
for (const name of ["README.md", "LICENSE", "CHANGELOG.md"]) {
  // Or those of the repository; a package has no changelog before its first release.
  const own = [join(folder, name), join(root, name)].find((path) => existsSync(path));
  if (own !== undefined) await copyFile(own, join(out, name));
}

/** Returns the manifest of the published package, relative to its own folder. */
async function toPublished(): Promise<object> {
  const { publishConfig, ...all } = manifest;
  const kept = Object.entries(all).filter(([field]) => !dropped.has(field));
  const { repository } = await readManifest(root);
  return {
    ...Object.fromEntries(kept),
    ...addressesFrom(repository, relative(root, folder).split("\\").join("/")),
    dependencies: { ...toDependencies(), ...publishConfig?.dependencies },
    ...(imports !== undefined && { imports: compiled(imports) }),
    exports: { ...compiled(Object.fromEntries(entries)), "./package.json": "./package.json" },
    ...(bin !== undefined && { bin: mapPaths(bin, toStartPath) }),
  };
}

/** Returns the dependencies of the package and of the code compiled into it; libraries as a range. */
function toDependencies(): Record<string, string> {
  const theirs = inlined.flatMap(({ manifest }) => Object.entries(manifest.dependencies ?? {}));
  const libraries = theirs.map(([name]) => name);
  const named = new Set(packagesNamedIn(join(out, "private"), libraries));
  const all = [
    ...Object.entries(manifest.dependencies ?? {}),
    ...theirs.filter(([name]) => named.has(name)),
  ];
  const published = all.filter(([name]) => inlined.every((one) => one.name !== name));
  const ranges = published.map(([name, version]): [string, string] => [
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
function compiled(conditions: object): object {
  return mapPaths(conditions, (path) =>
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

function mapPaths(field: object, map: (path: string) => unknown): object {
  return JSON.parse(JSON.stringify(field), (_, value) => {
    return typeof value === "string" ? map(value) : (value as unknown);
  }) as object;
}

/** Returns the source files that a manifest's field names. */
function sourcesIn(field: unknown): string[] {
  const paths = (JSON.stringify(field) ?? "").matchAll(/"([^"]+\.ts)"/g);
  return [...new Set(Array.from(paths, ([, path = ""]) => path))];
}

/**
 * Compiles what the entries of the package and of the private ones import. One compiler for all takes half
 * the time of one for each, because they share the libraries' declarations.
 */
async function compile(): Promise<void> {
  const cache = join(root, "node_modules", ".cache");
  await mkdir(cache, { recursive: true });
  await using own = await mkdtempDisposable(join(cache, "build-"));
  const compilations = [
    { path: folder, files: sourcesIn([entries, imports, bin]), outDir: out },
    ...inlined.map(({ name, path, entries }) => {
      const outDir = join(out, "private", name, "src");
      return { path, files: sourcesIn([...entries.values()]), outDir };
    }),
  ];
  const configs = compilations.map((_, index) => join(own.path, `${index}.json`));
  for (const [index, { path, files, outDir }] of compilations.entries()) {
    const config = {
      extends: join(root, "tsconfig.base.json"),
      compilerOptions: {
        noEmit: false,
        // Lint checks the types of the whole repository; again here they take two thirds of the time.
        noCheck: true,
        singleThreaded: true,
        rootDir: join(path, "src"),
        outDir,
        tsBuildInfoFile: join(own.path, `${index}.tsbuildinfo`),
        // Programs export nothing. A map of declarations would lead to sources that are not packed.
        declaration: exports !== undefined,
        sourceMap: true,
        inlineSources: true,
      },
      files: files.map((file) => join(path, file)),
      include: [],
    };
    await writeFile(configs[index] ?? "", JSON.stringify(config));
  }
  const typescript = dirname(createRequire(import.meta.url).resolve("typescript/package.json"));
  // Without its garbage collection a third less processor time, for some 100 MB.
  const env = { ...process.env, GOGC: "off" };
  const words = [join(typescript, "bin/tsc"), "--build", ...configs];
  try {
    await promisify(execFile)(process.execPath, words, { cwd: folder, env });
  } catch (error) {
    process.stderr.write(`${(error as { stdout?: string }).stdout ?? String(error)}\n`);
    await own.remove();
    process.exit(1);
  }
}

async function readManifest(path: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(path, "package.json"), "utf8")) as Manifest;
}
