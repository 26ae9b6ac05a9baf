import { execFile } from "node:child_process";
import { mkdir, mkdtempDisposable, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { type PackedPackage, root, toPackedMap, toTypesPath } from "./packed-package.ts";

interface Package extends PackedPackage {
  readonly sources: readonly string[];
}

/** Writes the declarations of sources and of all that they import of the package, with maps. */
export async function writeDeclarations(given: Package): Promise<void> {
  const { folder, packageOut, toPacked, sources, privatePackages } = given;
  const cache = join(root, "node_modules", ".cache");
  await mkdir(cache, { recursive: true });
  await using own = await mkdtempDisposable(join(cache, "build-"));
  const named = new Map(privatePackages.flatMap(specifiersOf));
  await emit(given, [...named.values()], own.path);
  const found = new Set(sources.map((file) => join(folder, file)));
  // A set yields also those that are added meanwhile.
  for (const source of found) {
    const emitted = join(own.path, relative(root, source).replace(/\.ts$/, ".d.ts"));
    const path = join(packageOut, toTypesPath(toPacked(source) ?? ""));
    const text = await readFile(emitted, "utf8");
    const packed = text.replaceAll(importPattern, (whole, specifier: string) => {
      const isRelative = specifier.startsWith(".");
      const file = isRelative ? join(dirname(source), specifier) : (named.get(specifier) ?? "");
      const imported = toPacked(file.replace(/\.js$/, ".ts"));
      if (imported === null) return whole;
      found.add(file.replace(/\.js$/, ".ts"));
      const target = relative(dirname(path), join(packageOut, toTypesPath(imported)));
      const written = target.replaceAll("\\", "/").replace(/\.d\.ts$/, ".js");
      return `"${written.startsWith(".") ? written : `./${written}`}"`;
    });
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, packed);
    const map = await readFile(`${emitted}.map`, "utf8");
    await writeFile(`${path}.map`, toPackedMap(map, { from: emitted, to: path }, given));
  }
}

const importPattern = /(?<=\b(?:from |import |import\())"([^"\n]+)"/g;

function specifiersOf({
  path,
  manifest: { name, exports = {} },
}: Package["privatePackages"][number]) {
  const entries = Object.entries(exports).filter(([, file]) => /^\.\/src\/(?!testing)/.test(file));
  return entries.map(([key, file]): [string, string] => [name + key.slice(1), resolve(path, file)]);
}

async function emit(
  { folder, sources }: Package,
  others: readonly string[],
  outDir: string,
): Promise<void> {
  const config = {
    extends: join(root, "tsconfig.base.json"),
    compilerOptions: {
      noEmit: false,
      // Lint checks the types of the whole repository; again here they take two thirds of the time.
      noCheck: true,
      singleThreaded: true,
      rootDir: root,
      outDir,
      declaration: true,
      declarationMap: true,
      emitDeclarationOnly: true,
    },
    files: [...sources.map((file) => join(folder, file)), ...others],
    include: [],
  };
  const file = join(outDir, "tsconfig.json");
  await writeFile(file, JSON.stringify(config));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  // Without its garbage collection a third less processor time, for some 100 MB.
  const env = { ...process.env, GOGC: "off" };
  await promisify(execFile)(process.execPath, [tsc, "-p", file], { env });
}
