import { globSync, lstatSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { folderOf, publishedPackages } from "../pack-client.ts";
import { outputOf, readCodeBlocks } from "../run-command.ts";

// The lines of READMEs that install, as somebody with a clone types them.

const root = join(import.meta.dirname, "../..");
const [pack = "", installClient = ""] = readCodeBlocks("README.md", "sh")
  .flatMap((block) => block.trim().split("\n"))
  .filter((line) => /npm pack|npm install \.\./.test(line));
let packed = "";

beforeAll(async () => {
  packed = await mkdtemp(join(tmpdir(), "packed-"));
  // The build is what the setup made, and another test copies it meanwhile.
  const command = `${pack.replace("npm ci && npm run build && ", "")} --pack-destination ${packed}`;
  await outputOf(command, { cwd: root });
  return () => rm(packed, { recursive: true, force: true });
});

test("the README packs all packages, and installs the client from its file", () => {
  expect(pack).toBe("npm ci && npm run build && npm pack ./packages/*/dist ./apps/*/dist");
  expect(installClient).toBe(
    "cd ../your-project && npm install ../evaluator/evaluator-client-*.tgz",
  );
});

test.each(publishedPackages())("%s is installed as the README says", async (name) => {
  const lines = readCodeBlocks(`${folderOf(name)}/README.md`, "sh").flatMap((block) =>
    block.split("\n").filter((line) => line.startsWith("npm install ")),
  );
  expect(lines).toEqual([`npm install ${name}`]);
  const project = await mkdtemp(join(tmpdir(), "project-"));
  onTestFinished(() => rm(project, { recursive: true, force: true }));
  await writeFile(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const tarballs = name === "evaluator-client" ? `${name}-*.tgz` : "evaluator-*.tgz";
  expect(await readFile(join(root, "README.md"), "utf8")).toContain(`../evaluator/${tarballs}`);
  const install = `npm install ${packed}/${tarballs}`;
  const quickly = "--prefer-offline --no-audit --no-fund --ignore-scripts";
  await outputOf(`${install} ${quickly}`, { cwd: project });
  const used = /-(?:cli|router|triage)$/.test(name)
    ? `npx --no-install ${name} --version`
    : importOf(name);
  await outputOf(used, { cwd: project });
});

test("the command line alone: at most 18 MB on the disk and 45 packages, and it runs", async () => {
  const cwd = await installAlone(["evaluator-cli"], { megabytes: 18, packages: 45 });
  const options = { cwd, env: { npm_config_offline: "true" } };
  await outputOf("npx --no-install evaluator-cli sample", options);
  const words = `tickets/tickets.csv --questions tickets/questions.json --offline --limit 3`;
  await outputOf(`npx --no-install evaluator-cli run ${words}`, options);
  const query = `npx --no-install evaluator-cli query tickets/tickets.csv "select count(*) as n from records"`;
  expect(await outputOf(query, options)).toBe("n\n3\n");
});

test("the router alone: at most 30 MB on the disk and 30 packages, and it runs", async () => {
  const needed = ["evaluator-router", "evaluator-emulator"];
  const cwd = await installAlone(needed, { megabytes: 30, packages: 30 });
  const checked = await outputOf("npx --no-install evaluator-router self-check", { cwd });
  expect(checked).toContain("3 of 3 prompts passed");
});

/** Installs packed packages in an empty folder, and returns it; they may not take more than this. */
async function installAlone(
  names: readonly string[],
  most: { readonly megabytes: number; readonly packages: number },
): Promise<string> {
  const cwd = await mkdtemp(join(tmpdir(), "alone-"));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  await writeFile(join(cwd, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const install = "npm install --prefer-offline --no-audit --no-fund";
  const tarballs = names.map((name) => `${packed}/${name}-*.tgz`);
  await outputOf(`${install} ${tarballs.join(" ")}`, { cwd });
  const files = globSync("node_modules/**", { cwd });
  const blocks = files.map((file) => lstatSync(join(cwd, file)).blocks);
  const bytes = blocks.reduce((sum, each) => sum + each, 0) * 512;
  expect(bytes).toBeLessThanOrEqual(most.megabytes * 1024 * 1024);
  const lock = await readFile(join(cwd, "package-lock.json"), "utf8");
  const { packages } = JSON.parse(lock) as { packages: object };
  expect(Object.keys(packages).length).toBeLessThanOrEqual(1 + most.packages);
  return cwd;
}

function importOf(name: string): string {
  return `node --input-type=module -e 'await import("${name}")'`;
}
