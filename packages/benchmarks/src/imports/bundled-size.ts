import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build, type Platform } from "esbuild";
import type { ImportedEntry } from "./imported-entries.ts";

/** The size of a bundle, in bytes. */
export interface BundledSize {
  readonly minifiedBytes: number;
  readonly gzippedBytes: number;
}

/** Bundles an entry with all it needs, as a program that imports it would, and gives the size. */
export async function bundledSize(
  { url, names, peers }: ImportedEntry,
  platform: Platform,
): Promise<BundledSize> {
  const path = fileURLToPath(url);
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
