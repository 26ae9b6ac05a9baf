import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { access, mkdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";

const run = promisify(execFile);
const environments = ["clients", "litellm", "models"] as const;
type Environment = (typeof environments)[number];

declare module "vitest" {
  /** The folder of programs of each Python environment, or why it is not there. */
  interface ProvidedContext extends Record<Environment, { bin: string } | { reason: string }> {}
}

/** Installs each environment once, and tells the tests where it is. */
export async function setup(project: TestProject): Promise<void> {
  for (const name of environments) {
    const installed = await install(name);
    if ("reason" in installed) process.stderr.write(`not run here: ${name}: ${installed.reason}\n`);
    project.provide(name, installed);
  }
}

async function install(name: Environment): Promise<{ bin: string } | { reason: string }> {
  const requirements = join(import.meta.dirname, "requirements", `${name}.txt`);
  const hash = createHash("sha256")
    .update(await readFile(requirements))
    .digest("hex");
  const folder = join(tmpdir(), "evaluator-peers", `${name}-${hash.slice(0, 16)}`);
  const bin = join(folder, "bin");
  if (await exists(join(folder, "complete"))) return { bin };
  try {
    await rm(folder, { recursive: true, force: true });
    await mkdir(join(folder, ".."), { recursive: true });
    await run("python3", ["-m", "venv", folder]);
    const words = [
      "install",
      "--quiet",
      "--require-hashes",
      "--only-binary=:all:",
      "--no-deps",
      "-r",
      requirements,
    ];
    await run(join(bin, "pip"), words, { maxBuffer: 10_000_000 });
    await mkdir(join(folder, "complete"));
    return { bin };
  } catch (error) {
    return {
      reason: error instanceof Error ? (error.message.trim().split("\n").at(-1) ?? "") : "",
    };
  }
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
