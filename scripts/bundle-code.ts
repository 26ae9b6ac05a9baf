import { existsSync, realpathSync } from "node:fs";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build as esbuild, type Plugin } from "esbuild";
import { bundleWithFiles } from "evaluator-kit/bundle-script";
import { type PackedPackage, toPackedMap, type Variant } from "./packed-package.ts";

/** What is bundled. */
interface Bundle extends Variant, PackedPackage {
  /** Of the code in it. */
  readonly out: string;
  /** The source of each file of the package. */
  readonly entries: Readonly<Record<string, string>>;
  /** Packages that stay imports. */
  readonly external: readonly string[];
  /** The condition of `imports`; null for Node alone. */
  readonly condition: string | null;
}

/**
 * Bundles code with its maps, and copies the files that it reads. Returns the folders of the libraries in it.
 *
 * @param alone - The sources of entries that share no file with others.
 */
export async function bundleCode(
  { entries, ...bundle }: Bundle,
  alone: readonly string[],
): Promise<string[]> {
  const groups = Object.groupBy(Object.entries(entries), ([, path]) =>
    alone.includes(path) ? "alone" : "shared",
  );
  const libraries: string[] = [];
  for (const group of Object.values(groups)) {
    libraries.push(...(await bundleEntries({ ...bundle, entries: Object.fromEntries(group) })));
  }
  return libraries;
}

async function bundleEntries(bundle: Bundle): Promise<string[]> {
  // The entries of a package with conditions share one file: an import loads few files.
  const { index: root } = bundle.condition === null ? {} : bundle.entries;
  const others = root === undefined ? [] : await entriesBeside(root, bundle);
  const appended = `\nimport ${JSON.stringify(resolve(bundle.folder, root ?? ""))};\n`;
  const plugins = [
    plainLibraries,
    sources(bundle, (file) => (others.includes(file) ? appended : "")),
  ];
  const { outputFiles, metafile } = await run(bundle, plugins);
  await mkdir(bundle.out, { recursive: true });
  for (const { path, text } of outputFiles.filter((file) => !file.path.includes(added))) {
    const isMap = path.endsWith(".map");
    const packed = isMap ? toPackedMap(text, { from: path, to: path }, bundle) : withRequire(text);
    await writeFile(path, packed);
  }
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.keys(output.inputs));
  const scripts = await Promise.all(copies.values());
  const libraries = [...inputs, ...scripts.flat()].flatMap(
    (file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? [],
  );
  return [...new Set(libraries)].map((path) => resolve(bundle.folder, path));
}

/** Lets libraries that are no modules load Node's; on the first line, for the map. */
function withRequire(code: string): string {
  if (!/^var __require =/m.test(code)) return code;
  return `const require = process.getBuiltinModule; ${code}`;
}

const added = "added-chunk-";

function run(bundle: Bundle, plugins: Plugin[]) {
  const { chunks = [], inlined = [], condition } = bundle;
  const more = chunks.map((file, index): [string, string] => [`${added}${index}`, file]);
  return esbuild({
    absWorkingDir: bundle.folder,
    entryPoints: { ...bundle.entries, ...Object.fromEntries(more) },
    bundle: true,
    splitting: true,
    format: "esm",
    target: "es2024",
    platform: condition === null || condition === "node" ? "node" : "neutral",
    conditions: condition === null ? [] : [condition],
    mainFields: ["module", "main"],
    external: ["node:*", "esbuild", ...bundle.external.filter((name) => !inlined.includes(name))],
    outdir: bundle.out,
    chunkNames: "chunk-[hash]",
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    write: false,
    logLevel: "error",
    plugins,
  });
}

/** Returns the sources of all files that are loaded beside one or after it, and that it does not import. */
async function entriesBeside(root: string, bundle: Bundle): Promise<string[]> {
  const { inputs, outputs } = (await run(bundle, [])).metafile;
  const imported = new Set([relative(".", root)]);
  // A set yields also those that are added meanwhile.
  for (const file of imported) {
    for (const { path, kind } of inputs[file]?.imports ?? []) {
      if (kind !== "dynamic-import") imported.add(path);
    }
  }
  const entries = Object.values(outputs).flatMap(({ entryPoint }) => entryPoint ?? []);
  return entries.filter((file) => !imported.has(file)).map((file) => resolve(bundle.folder, file));
}

const noMap = '{"version":3,"sources":["library"],"names":[],"mappings":"AAAA"}';
const noMapUrl = `data:application/json;base64,${Buffer.from(noMap).toString("base64")}`;

/** Libraries, of which no line is mapped, since their sources are not in the package. */
const plainLibraries: Plugin = {
  name: "plain-libraries",
  setup: (build) =>
    build.onLoad({ filter: /node_modules.*\.[cm]?js$/ }, async ({ path }) => {
      const text = (await readFile(path, "utf8")).replaceAll(/^\/\/# sourceMappingURL=/gm, "// ");
      return { contents: `${text}\n//# sourceMappingURL=${noMapUrl}` };
    }),
};

/** Sources whose files beside them are copied into the package; with some code appended. */
function sources(bundle: Bundle, appendedTo: (file: string) => string): Plugin {
  return {
    name: "sources",
    setup: (build) =>
      build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        if (bundle.toPacked(path) === null) return undefined;
        const text = await readFile(path, "utf8");
        // An error's `name` is its class's, which a minifier of the user's bundle would change.
        const named = text.replaceAll(
          /^(?:export )?class (\w+) extends \w*Error\b[^{]*\{/gm,
          '$& static { Object.defineProperty(this, "name", { value: "$1" }); }',
        );
        return {
          contents: (await withAssets(named, path, bundle)) + appendedTo(path),
          loader: "ts",
        };
      }),
  };
}

const copies = new Map<string, Promise<readonly string[]>>();

/** Copies a file or folder, and a page's script as one file. Returns the files whose code is in the script. */
async function copyAsset(path: string, to: string): Promise<readonly string[]> {
  await mkdir(dirname(to), { recursive: true });
  if (!path.endsWith(".ts")) return cp(path, to, { recursive: true }).then(() => []);
  const { text, files } = await bundleWithFiles(pathToFileURL(path));
  await writeFile(to, text);
  return files;
}

const assets =
  /new URL\(\s*"(?<file>[^"]+)",\s*import\.meta\.url,?\s*\)|import\.meta\.resolve\("(?<name>[^"]+)"\)/g;

/** Returns a source whose URLs of files are those in the package, and brings the files there. */
async function withAssets(text: string, source: string, { packageOut, toPacked }: Bundle) {
  if (/new URL\((?!\s*")[^()]*import\.meta\.url/.test(text)) {
    throw new Error(`${source} has a URL with import.meta.url that is not literal.`);
  }
  const targets = new Map<string, string>();
  for (const [whole, file, name = ""] of text.matchAll(assets)) {
    const url = file ? new URL(file, pathToFileURL(source)) : import.meta.resolve(name);
    if (!existsSync(fileURLToPath(url))) continue; // an example in a comment
    const path = realpathSync(fileURLToPath(url));
    const packed = toPacked(path) ?? path;
    const isScript = path.endsWith(".ts");
    const target = isScript ? packed.replace("src/", "scripts/").replace(/ts$/, "js") : packed;
    const to = join(packageOut, target);
    // Sources are read at the same time, and several may name one file.
    const copy = copies.get(to) ?? copyAsset(path, to);
    copies.set(to, copy);
    await copy;
    const packedUrl = `new URL(${JSON.stringify(`./${target}`)}, import.meta.url)`;
    targets.set(whole, file ? packedUrl : `${packedUrl}.href`);
  }
  return text.replace(assets, (whole) => targets.get(whole) ?? whole);
}
