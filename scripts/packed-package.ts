import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";

/** Of the repository. */
export const root = dirname(import.meta.dirname);

/** How code is bundled for the runtimes of one condition of a package's `imports`. */
export interface Variant {
  /** Dependencies whose used parts are a part of the code. */
  readonly inlined?: readonly string[];
  /** Sources that are files of the package, with what only they import. */
  readonly chunks?: readonly string[];
}

/** The fields of a package.json that the build reads. */
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, string>>;
  readonly imports?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly engines?: { readonly node?: string };
  readonly publishConfig?: {
    readonly dependencies?: Readonly<Record<string, string>>;
    /** By condition; the first one's files are at the top of the package. */
    readonly variants?: Readonly<Record<string, Variant>>;
    /** Sources of exports that share no file with others: small, and without a class or a state, as others have a copy. */
    readonly alone?: readonly string[];
  };
  readonly [field: string]: unknown;
}

/** Reads the `package.json` in a folder. */
export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

/** A workspace, and the package that is built from it. */
export type PackedPackage = ReturnType<typeof readPackage>;

/** Reads the workspace in a folder, whose package is built in another folder. */
export function readPackage(folder: string, packageOut: string) {
  const manifest = readManifest(folder);
  const privatePackages = readPrivatePackages(manifest);
  const places = [
    { path: folder, prefix: "" },
    ...privatePackages.map(({ path, manifest: { name } }) => {
      return { path, prefix: `private/${name}/` };
    }),
  ];
  /** Returns the path of a file of the repository in the package, or null if it is not part of it. */
  function toPacked(file: string): string | null {
    const place = places.find(({ path }) => file.startsWith(`${path}${sep}`));
    if (place === undefined || file.includes(`${sep}node_modules${sep}`)) return null;
    return place.prefix + relative(place.path, file).split(sep).join("/");
  }
  return { folder, packageOut, manifest, privatePackages, toPacked };
}

/** Returns the workspaces whose code a package contains: those that are not published, and those that it inlines. */
function readPrivatePackages({ dependencies = {}, publishConfig }: Manifest) {
  const inlined = publishConfig?.variants?.["node"]?.inlined ?? [];
  return globSync(["packages/*/package.json", "fixtures/package.json"], { cwd: root })
    .map((file) => join(root, dirname(file)))
    .map((path) => ({ path, manifest: readManifest(path) }))
    .filter(({ manifest }) => manifest.name in dependencies)
    .filter(({ manifest }) => manifest.private || inlined.includes(manifest.name));
}

/** Returns the declarations of a source in the package, by the path of the source there. */
export function toTypesPath(packed: string): string {
  return packed.replace("src/", "types/").replace(/\.ts$/, ".d.ts");
}

/** Returns a source map as it is in the package, with the paths of the sources there. */
export function toPackedMap(
  text: string,
  { from, to }: { readonly from: string; readonly to: string },
  { packageOut, toPacked }: PackedPackage,
): string {
  const map = JSON.parse(text) as { sources: string[] };
  const paths = map.sources.map((source) => {
    // The place of a library in the list, to which its first line is mapped.
    const packed = toPacked(resolve(dirname(from), source)) ?? "LICENSES.txt";
    return relative(dirname(to), join(packageOut, packed)).split("\\").join("/");
  });
  return JSON.stringify({ ...map, sources: paths });
}

/** Returns those of some packages that the code in a folder names, however it loads them. */
export function packagesNamedIn(folder: string, packages: readonly string[]): string[] {
  const files = globSync("**/*.{js,d.ts}", { cwd: folder });
  const texts = files.map((file) => readFileSync(join(folder, file), "utf8"));
  return packages.filter((name) => {
    return texts.some((text) => text.includes(`"${name}"`) || text.includes(`"${name}/`));
  });
}

/**
 * Returns the file that npm starts as a program of a package: it has no import, which an old Node would
 * load before the check, and fail with a stack.
 *
 * @param program - The file of the program itself, beside it.
 */
export function startFile(program: string, { name, engines }: Manifest): string {
  const [, major, minor] = /^>=(\d+)\.(\d+)$/.exec(engines?.node ?? "") ?? [];
  if (minor === undefined) throw new Error(`${name} has no engines.node such as ">=22.19".`);
  return `#!/usr/bin/env node
const { node, bun, deno } = process.versions;
const [major, minor] = node.split(".").map(Number);
if (bun || deno || major > ${major} || (major === ${major} && minor >= ${minor})) {
  await import("./${program}");
} else {
  console.error("${name} needs Node ${major}.${minor} or later, and this is Node " + node + ".");
  process.exitCode = 1;
}
`;
}
