import { globSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { installPackages, packPackages, publishedPackages } from "../pack-client.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The published packages, packed. */
    tarballs: readonly string[];
    /** An empty folder with all of them installed, and what their READMEs ask for beside them. */
    project: string;
    /** All that came with them. */
    installed: readonly { name: string; license: string }[];
    /** A superuser's URL, or null where no PostgreSQL was found. */
    postgresUrl: string | null;
  }
}

/** The peers that READMEs use, runners of tests, and two compilers. */
const others = [
  "@modelcontextprotocol/sdk@1.32.2",
  "@opentelemetry/api@1.9.1",
  "@types/node@24.19.2",
  "ai@7.0.173",
  "jest@30.5.2",
  "msw@3.0.5",
  "typescript-5@npm:typescript@5.9.3",
  "typescript-7@npm:typescript@7.0.2",
  "vitest@5.1.0",
];

/** Packs all published packages and installs them together in an empty folder, nothing of the repository beside them. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const packed = await packPackages(publishedPackages());
  const cwd = await mkdtemp(join(tmpdir(), "empty-project-"));
  const manifest = { name: "empty", private: true, type: "module" };
  await writeFile(join(cwd, "package.json"), JSON.stringify(manifest));
  await installPackages(cwd, packed.tarballs, "--ignore-scripts");
  project.provide("installed", readInstalled(cwd));
  await installPackages(cwd, others, "--ignore-scripts");
  project.provide("tarballs", packed.tarballs);
  project.provide("project", cwd);
  return async () => {
    await packed[Symbol.asyncDispose]();
    await rm(cwd, { recursive: true, force: true });
  };
}

function readInstalled(cwd: string) {
  // Folders within a package have manifests too.
  const files = globSync("node_modules/**/package.json", { cwd }).filter((file) =>
    /node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(file),
  );
  return files.flatMap((file) => {
    const manifest = JSON.parse(readFileSync(join(cwd, file), "utf8")) as Record<string, unknown>;
    const { name, version, license } = manifest;
    if (typeof name !== "string" || typeof version !== "string") return [];
    return [{ name, license: typeof license === "string" ? license : JSON.stringify(license) }];
  });
}
