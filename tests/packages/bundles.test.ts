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

const commonjs = `import { choice, createEvaluator, RateLimitError } from "evaluator-client";
import { questionHash } from "evaluator-calibration";
import { createEmulator } from "evaluator-emulator";
import { openJournal } from "evaluator-runs";
const questions = { kind: choice("What is it?", { receipt: "a receipt", other: "none" }) };
export async function ask(): Promise<"receipt" | "other"> {
  const { answers } = await createEvaluator().evaluate({ state: "text", questions });
  return answers.kind.choice;
}
export const waitOf = (error: unknown): number | null =>
  error instanceof RateLimitError ? error.retryAfterMs : null;
// @ts-expect-error these are functions
export const texts: string[] = [questionHash, createEmulator, openJournal];
`;

test("a CommonJS project with the old resolution of modules has the types of all packages", async () => {
  await writeFile(join(project, "old.cts"), commonjs);
  const options = "--module commonjs --moduleResolution node10 --target es2022 --lib es2024,dom";
  const compile = `node node_modules/typescript-5/bin/tsc --noEmit --strict --skipLibCheck ${options}`;
  await expect(outputOf(`${compile} old.cts`, { cwd: project })).resolves.toBe("");
});
