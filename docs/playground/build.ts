import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build, type Plugin, transform } from "esbuild";
import { pageStyle } from "evaluator-kit/page";

/** Writes the playground into a folder: its page, and its script with all packages in it. */
export async function buildPlayground(out: string): Promise<void> {
  const folder = import.meta.dirname;
  const examples = await readFile(join(folder, "examples.md"), "utf8");
  const titled = examples.matchAll(/^## (.+)\n\n```js\n([^]*?)^```$/gm);
  await build({
    entryPoints: [join(folder, "main.ts")],
    outfile: join(out, "playground.js"),
    bundle: true,
    minify: true,
    // A module script has no origin in a sandboxed frame, and is not loaded there.
    format: "iife",
    target: "es2022",
    define: {
      EXAMPLES: JSON.stringify(Array.from(titled, ([, ...example]) => example)),
      "globalThis.process": "undefined", // a page has none
    },
    tsconfigRaw: {},
    plugins: [loadedAtOnce],
    logLevel: "warning",
  });
  const page = await readFile(join(folder, "index.html"), "utf8");
  const style = pageStyle([new URL("playground.css", import.meta.url)]);
  const { code } = await transform(style, { loader: "css", minify: true });
  await writeFile(
    join(out, "index.html"),
    page.replace(/\n +/g, "\n").replace("/* STYLE */", () => withoutUnused(code.trim())),
  );
}

/**
 * Makes the `import()` of our sources static. In one script nothing is loaded later, and esbuild would put a
 * function around each module that an `import()` reaches: 2 kB gzip.
 */
const loadedAtOnce: Plugin = {
  name: "loaded-at-once",
  setup(page) {
    page.onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path }) => {
      const names = new Map<string, string>();
      const source = await readFile(path, "utf8");
      const body = source.replace(/\bimport\(("[^"]+")\)/g, (_, module: string) => {
        names.set(module, `loaded${names.size}`);
        return `Promise.resolve(${names.get(module)})`;
      });
      const imports = Array.from(names, ([module, name]) => `import * as ${name} from ${module};`);
      return { contents: imports.join("") + body, loader: "ts" };
    });
  },
};

/** Leaves out the variables of a style that this page does not use. */
function withoutUnused(style: string): string {
  const declared = /(--[\w-]+):[^;{}]*;/g;
  return style.replace(declared, (all, name) => (style.includes(`var(${name}`) ? all : ""));
}
