import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { buildPlayground } from "../docs/playground/build.ts";

// node scripts/docs.ts dev|build: serves the site of docs/, or builds it into docs/.vitepress/dist.

const docs = join(dirname(import.meta.dirname), "docs");
const timeOf = (file: string) =>
  statSync(join(docs, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;

function run(line: string): void {
  const { status } = spawnSync(line, { cwd: docs, shell: true, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

if (timeOf("node_modules/.package-lock.json") < timeOf("package-lock.json")) run("npm ci");
await buildPlayground(join(docs, "public/playground"));
run("npx --no typedoc");
run(`npx --no vitepress ${process.argv[2] ?? "dev"}`);
