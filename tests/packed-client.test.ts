import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createEmulator } from "evaluator-emulator";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { readCodeBlocks } from "./read-readme.ts";
import { type CommandOptions, runCommand } from "./run-command.ts";

const root = dirname(import.meta.dirname);
let tarball = "";
let project = "";

async function run(command: string, options: CommandOptions) {
  const result = await runCommand(command, options);
  expect(result, `${command}\n${result.stdout}${result.stderr}`).toMatchObject({ exitCode: 0 });
  return result.stdout;
}

// Packing rewrites package.json for a moment, so it happens in a copy that finds the same compiler.
beforeAll(async () => {
  const cache = `${root}/node_modules/.cache`;
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(`${cache}/packed-`);
  const copy = join(folder, "packages/evaluator-client");
  const skipped = /node_modules\/\.bin|\/dist$|\/\.turbo$|\.stryker-tmp/;
  const options = {
    recursive: true,
    filter: (path: string) => !skipped.test(path.slice(root.length)),
  };
  await cp(`${root}/packages/evaluator-client`, copy, options);
  await cp(`${root}/tsconfig.base.json`, join(folder, "tsconfig.base.json"));
  await run(`npm pack --pack-destination ${folder}`, { cwd: copy });
  const name = (await readdir(folder)).find((file) => file.endsWith(".tgz")) ?? "";
  tarball = join(folder, name);
  project = await mkdtemp(join(tmpdir(), "empty-project-"));
  await fillProject();
  return async () => {
    await rm(folder, { recursive: true, force: true });
    await rm(project, { recursive: true, force: true });
  };
}, 120_000);

/** Makes the empty folder a project that has installed the package. */
async function fillProject(): Promise<void> {
  const manifest = { name: "empty", private: true, type: "module" };
  await writeFile(join(project, "package.json"), JSON.stringify(manifest));
  await run(`npm install --prefer-offline --no-audit --no-fund ${tarball}`, { cwd: project });
}

test("publint and attw find nothing wrong", { timeout: 60_000 }, async () => {
  const stdout = await run(`npx publint ${tarball} --strict`, { cwd: root });
  expect(stdout).toContain("All good!");
  await run(`npx attw ${tarball} --profile esm-only`, { cwd: root });
});

test(
  "the README's snippet compiles and runs in an empty project",
  { timeout: 60_000 },
  async () => {
    const [snippet = ""] = readCodeBlocks("README.md", "ts");
    await writeFile(join(project, "snippet.ts"), snippet);
    const options = "--noEmit --strict --module nodenext --target es2024 --lib es2024,dom";
    await run(`${root}/node_modules/.bin/tsc ${options} --ignoreConfig snippet.ts`, {
      cwd: project,
    });
    const emulator = createEmulator();
    onTestFinished(() => emulator.close());
    const { gatewayBaseUrl } = await emulator.listen();
    const env = { AI_GATEWAY_API_KEY: "local", EVALUATOR_BASE_URL: gatewayBaseUrl };
    const stdout = await run("node snippet.ts", { cwd: project, env });
    expect(stdout).toMatch(/^(receipt|other)\n[\d.]+ [\d.]+\n[\d.]+ [\d.e-]+\n$/);
  },
);
