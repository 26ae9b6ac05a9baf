import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const root = dirname(import.meta.dirname);
/** Codes of process warnings, which are no variables. */
const warningCodes = new Set([
  "EVALUATOR_CALLBACK_FAILED",
  "EVALUATOR_NAMES_SORTED",
  "EVALUATOR_LONG_CONTEXT",
]);
const formerNames = new Set(["ROUTER_CONTEXT", "ROUTER_TIES"]);

/** Returns the names of variables that the programs read, as texts or as keys of a schema. */
function namesRead(): string[] {
  const folders = "{apps/*,packages/{evaluator-client,evaluator-cli,evaluator-runs}}";
  const files = globSync(`${folders}/src/**/*.ts`, { cwd: root }).filter(
    (file) => !/\.test\.ts$|testing[/\\]/.test(file),
  );
  const prefix = "(?:AI_GATEWAY|EVALUATOR|OTEL|ROUTER|TRIAGE)";
  const pattern = new RegExp(
    String.raw`"(${prefix}_[A-Z_]*[A-Z]2?)"|^ +(${prefix}_[A-Z_]+):`,
    "gm",
  );
  const names = files.flatMap((file) =>
    [...readFileSync(join(root, file), "utf8").matchAll(pattern)].map(
      ([, quoted, key]) => quoted ?? key ?? "",
    ),
  );
  return [...new Set(names)].filter((name) => !warningCodes.has(name));
}

test(".env.example names every variable that a program reads, and no other", () => {
  const lines = readFileSync(join(root, ".env.example"), "utf8").matchAll(/^([A-Z_]+2?)=$/gm);
  const named = Array.from(lines, ([, name = ""]) => name);
  const read = namesRead().filter((name) => !formerNames.has(name));
  const common = ["HOST", "PORT"];
  expect(named.toSorted()).toEqual([...common, ...read].toSorted());
});
