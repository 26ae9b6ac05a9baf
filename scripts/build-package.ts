import { execFile } from "node:child_process";
import { copyFile, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import process from "node:process";
import { promisify } from "node:util";

// node scripts/build-package.ts [OUT], in a package's folder: makes OUT (dist without it) the
// package as it is published, compiled and with a manifest of its own. In the repository, exports
// name the sources, so that nothing has to be built to work on it.

interface Manifest {
  readonly publishConfig?: { readonly dependencies?: Readonly<Record<string, string>> };
  readonly [field: string]: unknown;
}

// What is of use here only, or replaced below.
const dropped = new Set(["scripts", "devDependencies", "publishConfig", "files", "private"]);

/** Returns the manifest of the published package, relative to its own folder. */
function toPublished({ publishConfig, ...manifest }: Manifest, addresses: object): object {
  const kept = Object.entries(manifest).filter(([field]) => !dropped.has(field));
  const published = Object.fromEntries(kept);
  const { exports, imports, bin } = manifest;
  return {
    ...published,
    ...addresses,
    ...(publishConfig?.dependencies && { dependencies: publishConfig.dependencies }),
    ...(imports !== undefined && { imports: compiled(imports) }),
    exports: { ...(compiled(exports) as object), "./package.json": "./package.json" },
    ...(bin !== undefined && { bin: mapStrings(bin, (path) => toCompiledPath(path, ".js")) }),
  };
}

/**
 * Returns where the repository, its page and its issues are, all from the one line `repository` of
 * the root's package.json; nothing while that is a placeholder.
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

function mapStrings(value: unknown, map: (text: string) => unknown): unknown {
  if (typeof value === "string") return map(value);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, nested]) => [key, mapStrings(nested, map)]),
  );
}

async function readManifest(path: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(path, "package.json"), "utf8")) as Manifest;
}

const folder = process.cwd();
const out = resolve(folder, process.argv[2] ?? "dist");
const compiler = join(
  dirname(createRequire(import.meta.url).resolve("typescript/package.json")),
  "bin/tsc",
);
await rm(out, { recursive: true, force: true });
try {
  const words = ["-p", "tsconfig.build.json", "--outDir", relative(folder, out) || out];
  await promisify(execFile)(process.execPath, [compiler, ...words], { cwd: folder });
} catch (error) {
  process.stderr.write(`${(error as { stdout?: string }).stdout ?? String(error)}\n`);
  process.exit(1);
}
const root = dirname(import.meta.dirname);
const manifest = await readManifest(folder);
const { repository } = await readManifest(root);
const addresses = addressesFrom(repository, relative(root, folder).split("\\").join("/"));
const published = toPublished(manifest, addresses);
await writeFile(join(out, "package.json"), `${JSON.stringify(published, null, 2)}\n`);
for (const name of ["README.md", "LICENSE"]) {
  // The repository's own where a package has none.
  const own = join(folder, name);
  await copyFile(own, join(out, name)).catch(() => copyFile(join(root, name), join(out, name)));
}
