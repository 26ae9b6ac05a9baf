import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** A script as it stands in a page, and what the page's policy must allow for it. */
export interface PageScript {
  readonly text: string;
  /** Source expression, such as `sha256-…`. */
  readonly hash: string;
}

const bundled = new Map<string, Promise<PageScript>>();

/** Returns a page's script with all that it imports as one text, made once and in memory. */
export function bundleScript(entry: URL): Promise<PageScript> {
  const script = bundled.get(entry.href) ?? bundle(entry);
  bundled.set(entry.href, script);
  return script;
}

/** The bundler is a process of its own, and ended before its work was done. */
export class BundlerGoneError extends Error {
  override readonly name = "BundlerGoneError";
}

async function bundle(entry: URL): Promise<PageScript> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(entry)],
    bundle: true,
    write: false,
    format: "iife",
    platform: "browser",
    target: "es2022",
    minify: true,
    charset: "utf8",
    tsconfigRaw: {}, // the same script wherever the program is installed
    logLevel: "silent", // a failure is thrown
  }).catch((error: unknown) => {
    // What is wrong with the script comes with a list of errors.
    const isFailedBuild = error instanceof Error && "errors" in error;
    throw isFailedBuild ? error : new BundlerGoneError("The bundler ended.", { cause: error });
  });
  const text = outputFiles.map((file) => file.text).join("");
  return { text, hash: sourceHash(text) };
}

/** Returns the hash of a script or style as a page's policy names it. */
export function sourceHash(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
