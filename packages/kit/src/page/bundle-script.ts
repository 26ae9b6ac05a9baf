import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const bundledMap = new Map<string, Promise<string>>();

/** Returns a page's script with all imports as one text; made once, in memory. A published one is a file. */
export function bundleScript(entry: URL): Promise<string> {
  if (entry.pathname.endsWith(".js")) return readFile(entry, "utf8");
  const script = bundledMap.get(entry.href) ?? bundle(entry);
  bundledMap.set(entry.href, script);
  return script;
}

async function bundle(entry: URL): Promise<string> {
  const { build } = await import("esbuild");
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
  });
  return outputFiles.map((file) => file.text).join("");
}
