import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** A script as it stands in a page, and what the page's policy must allow for it. */
export interface PageScript {
  readonly text: string;
  /** Source expression, such as `sha256-…`. */
  readonly hash: string;
}

let bundled: Promise<PageScript> | null = null;

/** Returns the script that pages, sorts and searches the list; it is made once, in memory. */
export function loadScript(): Promise<PageScript> {
  bundled ??= bundle();
  return bundled;
}

async function bundle(): Promise<PageScript> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("script/main.ts", import.meta.url))],
    bundle: true,
    write: false,
    format: "iife",
    platform: "browser",
    target: "es2023",
    minify: true,
    tsconfigRaw: {}, // the same script wherever the program is installed
    logLevel: "silent", // a failure is thrown
  });
  const text = outputFiles.map(({ text }) => text).join("");
  return { text, hash: `sha256-${createHash("sha256").update(text).digest("base64")}` };
}
