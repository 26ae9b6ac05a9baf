import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { outputOf } from "../run-command.ts";

const project = inject("project");

const bundled = `const { runRecords } = require("evaluator-runs");
const { postgresLimits } = require("evaluator-runs/postgres");
const unreachable = postgresLimits("postgres://worker@127.0.0.1:9/evaluator");
unreachable.catch(({ name }) => console.log(typeof runRecords, name));
`;

test("evaluator-runs runs in a minified CommonJS bundle, where no module has an address", async () => {
  await writeFile(join(project, "runs.cjs"), bundled);
  const esbuild = join(import.meta.dirname, "../../node_modules/.bin/esbuild");
  const words =
    "runs.cjs --bundle --minify --platform=node --outfile=runs.min.cjs --log-level=error";
  await outputOf(`${esbuild} ${words}`, { cwd: project });
  expect(await outputOf("node runs.min.cjs", { cwd: project })).toBe("function DatabaseError\n");
});
