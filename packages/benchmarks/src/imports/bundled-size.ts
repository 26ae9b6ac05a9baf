import { dirname } from "node:path";
import { gzipSync } from "node:zlib";
import { build, type Platform } from "esbuild";

/** The size of a bundle, in bytes. */
export interface BundledSize {
  readonly minifiedBytes: number;
  readonly gzippedBytes: number;
}

/** What a program imports. */
interface BundledEntry {
  /** The entry's compiled file. */
  readonly path: string;
  /** What a program takes from it; everything when not given. */
  readonly names?: readonly string[] | undefined;
  /** Packages that it leaves to the program which imports it. */
  readonly peers?: readonly string[];
}

/** Bundles an entry with all it needs, as a program that imports it would, and returns the size. */
export async function bundledSize(
  { path, names, peers = [] }: BundledEntry,
  platform: Platform,
): Promise<BundledSize> {
  const taken = names === undefined ? "*" : `{ ${names.join(", ")} }`;
  const { outputFiles } = await build({
    stdin: {
      contents: `export ${taken} from ${JSON.stringify(path)};`,
      resolveDir: dirname(path),
    },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform,
    target: "es2022",
    external: [...peers],
    logLevel: "silent",
  });
  const bytes = outputFiles[0]?.contents ?? new Uint8Array();
  return { minifiedBytes: bytes.length, gzippedBytes: gzipSync(bytes, { level: 9 }).length };
}
