import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { root } from "./packed-package.ts";

// node scripts/check-release.ts: installs the published packages of this version in an empty folder,
// runs their programs, and collects the files of the release in reports/release.

/** A registry may need some minutes until it serves a new version. */
const [TRIES, WAIT_MS] = [20, 15_000];

const manifests = globSync("{packages,apps}/*/package.json", { cwd: root })
  .map((file) => JSON.parse(readFileSync(join(root, file), "utf8")) as Record<string, unknown>)
  .filter((manifest) => manifest["private"] !== true);
const version = String(manifests[0]?.["version"]);
const packages = manifests.map(({ name }) => `${String(name)}@${version}`);
const files = join(root, "reports/release");
const temporary = mkdtempSync(join(tmpdir(), "evaluator-release-"));
// The SBOM has the folder's name.
const project = join(temporary, "evaluator");

// npm under npm takes the outer folder for its own.
const { INIT_CWD: _cwd, npm_config_local_prefix: _prefix, ...env } = process.env;

function run(line: string, cwd = project): string {
  process.stderr.write(`$ ${line}\n`);
  return execFileSync(line, { cwd, env, shell: true, encoding: "utf8", maxBuffer: 2 ** 28 });
}

async function install(): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return void run(`npm install --no-audit --no-fund --prefer-online ${packages.join(" ")}`);
    } catch (error) {
      if (tries === TRIES) throw error;
      await setTimeout(WAIT_MS);
    }
  }
}

function runPrograms(): void {
  for (const { name, bin } of manifests) {
    if (bin === undefined) run(`node --eval 'import("${String(name)}")'`);
    else if (!run(`node_modules/.bin/${String(name)} --version`).includes(version))
      throw new Error(`${String(name)} does not print its version, ${version}.`);
  }
  run("node_modules/.bin/evaluator-cli demo --auto");
  run("node_modules/.bin/evaluator-triage sample");
  run("node_modules/.bin/evaluator-triage inbox.json --offline");
}

function collect(): void {
  rmSync(files, { recursive: true, force: true });
  mkdirSync(files, { recursive: true });
  run(`npm pack --pack-destination "${files}" ${packages.join(" ")}`);
  writeFileSync(join(files, "sbom.cdx.json"), run("npm sbom --sbom-format cyclonedx"));
  run("npm run docs:build", root);
  run(`tar -czf "${join(files, `docs-${version}.tgz`)}" -C docs/.vitepress/dist .`, root);
  const sums = globSync("*", { cwd: files })
    .toSorted()
    .map((name) => `${hash("sha256", readFileSync(join(files, name)))}  ${basename(name)}\n`);
  writeFileSync(join(files, "SHA256SUMS"), sums.join(""));
}

try {
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "evaluator", version }));
  await install();
  // Compares the signatures, and the provenance, with the registry's keys.
  if (env["NPM_CONFIG_PROVENANCE"] === "true") run("npm audit signatures");
  runPrograms();
  collect();
  process.stderr.write(`Released ${version}; its files are in ${files}.\n`);
} finally {
  rmSync(temporary, { recursive: true, force: true });
}
