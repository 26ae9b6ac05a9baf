import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import options from "./typedoc.options.json" with { type: "json" };

const packages = join(dirname(import.meta.dirname), "packages");

/** The source of each published entry, and the name by which programs import it. */
const names = new Map(
  ["client", "calibration", "runs", "emulator"].flatMap((name) => {
    const folder = join(packages, `evaluator-${name}`);
    const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return Object.entries(exports)
      .filter(([, path]) => !path.startsWith("./src/testing/"))
      .map(([entry, path]) => [join(folder, path), `evaluator-${name}${entry.slice(1)}`]);
  }),
);

function nameModules({ converter }) {
  converter.on("createDeclaration", (context, reflection) => {
    const [source] = context.getSymbolFromReflection(reflection)?.declarations ?? [];
    reflection.name = names.get(source?.fileName) ?? reflection.name;
  });
}

export default {
  ...options,
  entryPoints: [...names.keys()],
  plugin: ["typedoc-plugin-markdown", nameModules],
};
