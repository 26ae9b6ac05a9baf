import { fileURLToPath } from "node:url";
import { build } from "esbuild";

let bundled: Promise<string> | null = null;

/** The page's script and the two libraries it uses as one text, made once in memory. */
export function bundleScript(): Promise<string> {
  bundled ??= bundle();
  return bundled;
}

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("script/main.ts", import.meta.url))],
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
    target: "es2022",
    minify: true,
    charset: "utf8",
    tsconfigRaw: {}, // the same script wherever the router is installed
    logLevel: "silent", // a failure is thrown
  });
  return outputFiles.map(({ text }) => text).join("");
}
