import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const scriptPromises = new Map<string, Promise<string>>();

/** Returns a page's script with all imports as one text; made once, in memory. A published one is a file. */
export function bundleScript(entryUrl: URL): Promise<string> {
  if (entryUrl.pathname.endsWith(".js")) return readFile(entryUrl, "utf8");
  const script =
    scriptPromises.get(entryUrl.href) ?? bundleWithFiles(entryUrl).then(({ text }) => text);
  scriptPromises.set(entryUrl.href, script);
  return script;
}

/** Returns a page's script as one text, and the files whose code is in it, relative to the current folder. */
export async function bundleWithFiles(entryUrl: URL) {
  const { build } = await import("esbuild");
  const { outputFiles, metafile } = await build({
    entryPoints: [fileURLToPath(entryUrl)],
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
  const text = outputFiles.map((outputFile) => outputFile.text).join("");
  const files = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs));
  return { text, files };
}
