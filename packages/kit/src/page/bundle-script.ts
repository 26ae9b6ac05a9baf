import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const bundledMap = new Map<string, Promise<string>>();

/** Returns a page's script with all imports as one text; made once, in memory. A published one is a file. */
export function bundleScript(entry: URL): Promise<string> {
  if (entry.pathname.endsWith(".js")) return readFile(entry, "utf8");
  const script = bundledMap.get(entry.href) ?? bundleWithFiles(entry).then(({ text }) => text);
  bundledMap.set(entry.href, script);
  return script;
}

/** Returns a page's script as one text, and the files whose code is in it, relative to the current folder. */
export async function bundleWithFiles(entry: URL) {
  const { build } = await import("esbuild");
  const { outputFiles, metafile } = await build({
    entryPoints: [fileURLToPath(entry)],
    bundle: true,
    write: false,
    format: "iife",
    platform: "browser",
    target: "es2022",
    minify: true,
    charset: "utf8",
    tsconfigRaw: {}, // the same script wherever the program is installed
    metafile: true,
    logLevel: "silent", // a failure is thrown
  });
  const text = outputFiles.map((file) => file.text).join("");
  const files = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs));
  return { text, files };
}
