import { mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { installPackages } from "../pack-client.ts";
import {
  outputOf,
  readCodeBlocks,
  startCommand,
  startUntil,
  untilPrinted,
} from "../run-command.ts";
import { fillSheet, labeller } from "../testing/label-page.ts";
import { startRegistry } from "./local-registry.ts";

const programs = "evaluator-cli evaluator-emulator evaluator-router evaluator-triage";
let registry = "";
let tools = "";

beforeAll(async () => {
  const started = await startRegistry(inject("tarballs"));
  registry = started.origin;
  tools = await mkdtemp(join(tmpdir(), "managers-"));
  const allowScripts = { bun: true };
  await writeFile(join(tools, "package.json"), JSON.stringify({ private: true, allowScripts }));
  await installPackages(tools, ["pnpm@12.21.0", "@yarnpkg/cli-dist@4.18.1", "bun@1.4.5"]);
  return async () => {
    started.close();
    await rm(tools, { recursive: true, force: true });
  };
});

const managers = [
  { name: "npm", install: "npm install --no-audit --no-fund", run: "npx --no-install" },
  { name: "pnpm", install: "pnpm add", run: "pnpm exec" },
  { name: "yarn", install: "yarn add", run: "yarn run" },
  { name: "bun", install: "bun add", run: "bun x --no-install" },
];

test.each(managers)("$name installs the four programs, and runs them", async ({ install, run }) => {
  const cwd = await mkdtemp(join(tmpdir(), "managed-"));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  await writeFile(join(cwd, "package.json"), JSON.stringify({ name: "own", private: true }));
  const yarn = `npmRegistryServer: ${registry}\nunsafeHttpWhitelist: [127.0.0.1]\n`;
  await writeFile(join(cwd, ".yarnrc.yml"), yarn);
  await writeFile(join(cwd, ".npmrc"), `registry=${registry}\n`);
  const env = {
    PATH: `${tools}/node_modules/.bin:${process.env["PATH"]}`,
    NPM_CONFIG_REGISTRY: registry,
    YARN_ENABLE_TELEMETRY: "0",
    YARN_ENABLE_GLOBAL_CACHE: "0",
    HOME: cwd,
    PORT: "0",
    INIT_CWD: cwd,
  };
  const options = { cwd, env };
  await outputOf(`${install} ${programs}`, options);
  expect(await outputOf(`${run} evaluator-cli --version`, options)).toMatch(/^\d+\.\d+\.\d+\n/m);
  await outputOf(`${run} evaluator-triage sample`, options);
  const asked = await outputOf(`${run} evaluator-triage inbox.json --offline --limit 3`, options);
  expect(asked).toContain("imp   conf");
  expect(await outputOf(`${run} evaluator-router self-check`, options)).toContain("3 of 3 prompts");
  const started = /router is at (\S+)/;
  const [, origin = ""] = await startUntil(`${run} evaluator-router`, started, options);
  expect(await (await fetch(origin)).text()).toContain("local emulator");
  const emulator = `${run} evaluator-emulator --port 0`;
  const [, gateway = ""] = await startUntil(emulator, /gateway +(\S+)\n/, options);
  expect(await (await fetch(new URL("/v1/models", gateway))).json()).toHaveProperty("data");
  const demo = await outputOf(`${run} evaluator-cli demo --auto`, options);
  expect(demo).toMatch(/^3 promise {2}act on "yes" at 0\.\d\d and above: at most 5 % wrong/m);
  expect(await playTutorial(run, options)).toContain("\nrefund no: kept, ");
});

/** Runs the commands of the tutorial, and returns all that they print. */
async function playTutorial(run: string, options: Parameters<typeof startUntil>[2]) {
  await outputOf(`${run} evaluator-cli sample`, options);
  const { cwd } = options;
  const tickets = fileURLToPath(new URL("../../fixtures/tickets/", import.meta.url));
  for (const file of await readdir(tickets))
    await rename(join(cwd, "tickets", file), join(cwd, file));
  const blocks = readCodeBlocks("docs/tickets.md", "console");
  // As many labels as the page counts.
  const counts = blocks.flatMap((block) => block.match(/^\d+(?= labels,)/gm) ?? []).map(Number);
  const [emulator, ...commands] = blocks.flatMap((block) =>
    Array.from(block.matchAll(/^\$ (.+)$/gm), ([, line = ""]) =>
      line.replace(/^evaluator-cli /, () => `${run} evaluator-cli `),
    ),
  );
  const start = `${emulator} --port 0`;
  const [, address = ""] = await startUntil(start, /gateway +(\S+)\n/, options);
  const asking = { ...options.env, EVALUATOR_BASE_URL: address, AI_GATEWAY_API_KEY: "local" };
  const label = await labeller(tickets);
  let printed = "";
  for (const command of commands) {
    if (command.includes("--labels later.ndjson")) await fillSheet(cwd, "later.ndjson");
    const child = startCommand(`{ ${command}\n} 2>&1`, { cwd, env: asking });
    const all = text(child.stdout);
    if (command.includes(" label ")) {
      const [, origin = ""] = await untilPrinted(child, /at (http:\S+) /);
      await label(origin, counts.shift() ?? 0);
    }
    printed += await all;
  }
  return printed;
}
