import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

// `npm run docs:api` writes docs/api from the declarations that `npm run build` made. typedoc needs the
// compiler API of TypeScript 5, so it is installed here.

const root = join(import.meta.dirname, "../..");

/** Returns the declaration files that a published package exports. */
function entriesOf(manifest) {
  const { exports } = JSON.parse(readFileSync(join(root, manifest), "utf8"));
  return Object.values(exports).flatMap(({ types }) =>
    types ? [join(root, dirname(manifest), types)] : [],
  );
}

export default {
  name: "evaluator",
  entryPoints: globSync("packages/*/dist/package.json", { cwd: root })
    .toSorted()
    .flatMap(entriesOf),
  tsconfig: join(import.meta.dirname, "tsconfig.json"),
  out: join(root, "docs/api"),
  readme: "none",
  disableSources: true,
  excludePrivate: true,
  sort: ["source-order"],
};
