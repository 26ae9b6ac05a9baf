import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtempDisposable, readFile, symlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { execPath } from "node:process";
import { promisify } from "node:util";
import { repository } from "../client-build.ts";

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
}

/**
 * Builds the router and the packages of this repository that it imports for publishing, because users run compiled
 * files. They are beside this repository's `node_modules`, so Node finds their libraries.
 */
export async function buildRouter() {
  const builds = join(repository, "benchmarks/dist");
  await mkdir(builds, { recursive: true });
  const folder = await mkdtempDisposable(join(builds, "router-"));
  const text = await readFile(join(repository, "apps/router/package.json"), "utf8");
  const names = Object.keys((JSON.parse(text) as Manifest).dependencies);
  const packages = names.map((name) => join(repository, "packages", name)).filter(existsSync);
  const modules = join(folder.path, "published/node_modules");
  const script = join(repository, "scripts/build-package.ts");
  for (const cwd of [...packages, join(repository, "apps/router")]) {
    await promisify(execFile)(execPath, [script, join(modules, basename(cwd))], { cwd });
  }
  // The kit is a part of the published router, and npm does not install its libraries at the root.
  await symlink(join(repository, "packages/kit/node_modules"), join(folder.path, "node_modules"));
  return {
    program: join(modules, "router/bin.js"),
    [Symbol.asyncDispose]: () => folder.remove(),
  };
}
