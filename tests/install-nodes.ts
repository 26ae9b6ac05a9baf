import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { TestProject } from "vitest/node";
import { installPackages } from "./pack-client.ts";

/** The versions of Node that published packages promise to run on, from the oldest, and older ones that are still in use. */
export const nodeVersions = {
  promised: ["22.19.0", "24.21.0", "26.10.0"],
  tooOld: ["18.20.8", "20.19.5"],
};

type InstalledNodes = readonly (readonly [version: string, path: string])[];

declare module "vitest" {
  interface ProvidedContext {
    /** The promised versions of Node, each with the path of its program. */
    nodes: InstalledNodes;
    /** Versions that are too old. */
    oldNodes: InstalledNodes;
  }
}

/** Installs the promised versions of Node, and some that are too old, from the registry, each in a folder of its own. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "nodes-"));
  const { promised, tooOld } = nodeVersions;
  const nodes: [string, string][] = [];
  for (const version of [...promised, ...tooOld]) {
    nodes.push([version, await install(version, join(folder, version))]);
  }
  project.provide("nodes", nodes.slice(0, promised.length));
  project.provide("oldNodes", nodes.slice(promised.length));
  return () => rm(folder, { recursive: true, force: true });
}

async function install(version: string, cwd: string): Promise<string> {
  await mkdir(cwd);
  // Its program comes by a script of the installation.
  const manifest = { private: true, allowScripts: { node: true } };
  await writeFile(join(cwd, "package.json"), JSON.stringify(manifest));
  await installPackages(cwd, [`node@${version}`]);
  const name = process.platform === "win32" ? "node.exe" : "node";
  return join(cwd, "node_modules/node/bin", name);
}
