import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describeSystemError, printable, UsageError } from "evaluator-kit";
import { type Plan, PLAN_VERSION, planSchema } from "./plan.ts";

/**
 * Reads a plan.
 *
 * @throws UsageError if there is none, or it is of another version of the simulation.
 */
export function readPlan(file: string, cwd: string): Plan {
  const value = readJson(file, cwd);
  const version: unknown =
    typeof value === "object" && value !== null ? Reflect.get(value, "version") : null;
  if (typeof version === "number" && version !== PLAN_VERSION) {
    throw new UsageError(
      printable`--plan ${file} is of version ${String(version)} of the simulation, and this is version ${String(PLAN_VERSION)}; play the seed again without it, or use the version that wrote it.`,
    );
  }
  const { success, data, error } = planSchema.safeParse(value);
  if (success) return data;
  const [issue] = error.issues;
  const where = issue?.path.join(".") || "the file";
  throw new UsageError(printable`--plan ${file} is no plan of a simulation: ${where} is wrong.`);
}

function readJson(file: string, cwd: string): unknown {
  try {
    return JSON.parse(readFileSync(resolve(cwd, file), "utf8"));
  } catch (error) {
    const why = describeSystemError(error) ?? "it is no JSON";
    throw new UsageError(printable`--plan ${file} cannot be read: ${why}.`);
  }
}

/** Writes a plan beside the caller; returns the name of its file. */
export function writePlan(plan: Plan, cwd: string): string {
  const name = `simulation-${plan.seed}.json`;
  writeFileSync(join(cwd, name), `${JSON.stringify(plan, null, 2)}\n`);
  return name;
}
