import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { expect, inject, onTestFinished, test } from "vitest";
import { publishedPackages } from "../pack-client.ts";
import { outputOf, runCommand, startUntil } from "../run-command.ts";

const root = join(import.meta.dirname, "../..");
const tarballs = inject("tarballs");
const project = inject("project");
const programs = ["evaluator-cli", "evaluator-emulator", "evaluator-router", "evaluator-triage"];

test("publint finds nothing wrong with any of them", async () => {
  expect(tarballs).toHaveLength(publishedPackages().length);
  for (const tarball of tarballs) {
    expect(
      await outputOf(`npx publint ${tarball} --strict`, { cwd: import.meta.dirname }),
    ).toContain("All good!");
  }
});

test.each(programs)("%s is called as its package", async (name) => {
  const help = await outputOf(`npx --no-install ${name} --help`, { cwd: project });
  expect(help).toMatch(new RegExp(`^Usage: ${name} \\[options\\]`));
  const { bin } = JSON.parse(
    await readFile(join(project, "node_modules", name, "package.json"), "utf8"),
  ) as { bin: object };
  expect(bin).toEqual({ [name]: "./bin.js" });
});

const emulatorProgram = `import { createEmulator } from "evaluator-emulator";
import { emulatorHandlers } from "evaluator-emulator/msw";
import { setupServer } from "msw/node";
const emulator = createEmulator();
const body = JSON.stringify({ model: "jev-latest", state: "You have won the lottery", questions: { scam: { type: "noul", instructions: "Is it a scam?" } } });
const ask = async (send, url) => {
  const response = await send(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  return (await response.json()).answers.scam.noul;
};
const { directBaseUrl } = await emulator.listen();
const answers = [await ask(emulator.fetch, "/v1/systemone"), await ask(fetch, directBaseUrl + "/v1/systemone")];
await emulator.close();
const server = setupServer(...emulatorHandlers(emulator));
server.listen();
answers.push(await ask(fetch, "https://api.example.com/v1/systemone"));
server.close();
console.log(answers.join(" "));
`;

test("the emulator alone: its fetch, its server, its msw handlers, and npx over HTTPS", async () => {
  const alone = await mkdtemp(join(tmpdir(), "emulator-alone-"));
  onTestFinished(() => rm(alone, { recursive: true, force: true }));
  await writeFile(join(alone, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const tarball = tarballs.find((file) => file.includes("evaluator-emulator")) ?? "";
  const options = { cwd: alone };
  // The oldest msw whose handlers have this form; the emulator's own tests use the newest.
  await outputOf(`npm install --prefer-offline --no-audit --no-fund ${tarball} msw@2.0.0`, options);
  await writeFile(join(alone, "program.mjs"), emulatorProgram);
  expect(await outputOf("node program.mjs", options)).toMatch(/^(0\.\d+) \1 \1\n$/);
  expect(await outputOf("npx --no-install evaluator-emulator --version", options)).toMatch(
    /^\d+\.\d+\.\d+\n$/,
  );
  const command = "npx --no-install evaluator-emulator --port 0 --tls ca.pem";
  const [, origin = ""] = await startUntil(
    command,
    /gateway +(https:\S+)\/v4\/ai\n[^]*trust/,
    options,
  );
  const models = await outputOf(`curl -sSf --cacert ca.pem ${origin}/v1/models`, options);
  expect(JSON.parse(models)).toMatchObject({ object: "list" });
});

// Each with the path of a folder in which it is what `node` means.
const nodes = inject("nodes").map(([version, path]) => [version, dirname(path)] as const);
const pathFrom = (folder: string) => ({ PATH: `${folder}:${process.env["PATH"]}` });

test.each(nodes)(
  "on Node %s the installed emulator answers the installed command, and its recordings came along",
  async (version, folder) => {
    const options = { cwd: project, env: pathFrom(folder) };
    expect(await outputOf("node --version", options)).toBe(`v${version}\n`);
    const command = "npx --no-install evaluator-emulator --port 0 --engine ollama";
    const printed = /gateway +(\S+)\n/;
    const [, gateway = ""] = await startUntil(command, printed, options);
    await writeFile(join(project, "state.txt"), "You have won the lottery");
    const words = `--state state.txt --boolean "Is it a scam?" --engine gateway=${gateway}`;
    const asked = await outputOf(`npx --no-install evaluator-cli ask ${words}`, options);
    expect(asked).toMatch(/^boolean {2}yes 0\.\d\d$/m);
    const doctor = `npx --no-install evaluator-cli doctor ${new URL(gateway).origin}`;
    expect(await outputOf(doctor, options)).toContain("EVALUATOR_TRANSPORT=logprobs");
  },
);

test.each(nodes)("on Node %s the installed router serves its page", async (_version, folder) => {
  const options = { cwd: project, env: { ...pathFrom(folder), PORT: "0" } };
  const [, origin = ""] = await startUntil(
    "npx --no-install evaluator-router",
    /router is at (\S+)/,
    options,
  );
  const page = await (await fetch(origin)).text();
  expect(page).toContain("local emulator");
  expect(page).toMatch(/<script type="module">[^]{1000}/);
  expect(page).toMatch(/<style>[^]{1000}/);
  const checked = await outputOf("npx --no-install evaluator-router self-check", options);
  expect(checked).toContain("3 of 3 prompts passed");
});

test.each(nodes)(
  "on Node %s the installed triage asks about its sample, and makes the list",
  async (version, folder) => {
    const options = { cwd: project, env: pathFrom(folder) };
    const run = (words: string) => outputOf(`npx --no-install evaluator-triage ${words}`, options);
    const file = `mails-${version}.json`;
    await run(`sample ${file}`);
    expect(await run(`${file} --offline --top 2`)).toContain("Signature needed by tomorrow noon");
    await run(`report ${file}`);
    const page = await readFile(join(project, `mails-${version}.triage.html`), "utf8");
    expect(page).toMatch(/<script>[^]{1000}/);
    expect(await run("questions schema")).toContain("$schema");
  },
);

test.each(nodes)("on Node %s the demo ends with a promise", async (version, folder) => {
  const options = { cwd: project, env: pathFrom(folder) };
  const demo = `npx --no-install evaluator-cli demo --auto --out demo-${version}`;
  expect(await outputOf(demo, options)).toMatch(/act on "yes" at 0\.\d+ and above/);
});

test("a program reads .env of the current folder, or another file, and a set variable wins", async () => {
  const folder = await mkdtemp(join(tmpdir(), "variables-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, ".env"), "ROUTER_DECISION_LOG=from-env.jsonl\n");
  await writeFile(join(folder, "other"), "ROUTER_DECISION_LOG=from-other.jsonl\n");
  const report = async (words: string, env = {}) => {
    const command = `"${project}/node_modules/.bin/evaluator-router" ${words}`;
    return (await runCommand(command, { cwd: folder, env: { INIT_CWD: folder, ...env } })).stderr;
  };
  expect(await report("report")).toContain("from-env.jsonl");
  expect(await report("--env-file other report")).toContain("from-other.jsonl");
  const set = { ROUTER_DECISION_LOG: "set.jsonl" };
  expect(await report("report --env-file=other", set)).toContain("set.jsonl");
});

test("the demo's page shows its text and its button, which are of another package", async () => {
  const command = "npx --no-install evaluator-cli demo --page --out demo-page";
  const options = { cwd: project };
  const [, origin = ""] = await startUntil(command, /(http:\S+)\n[^]*^1 run/m, options);
  expect(await (await fetch(origin)).text()).toContain('<p class="about">Demo: a simulated model');
});

test("a failure in another package is its message, not a defect", async () => {
  const triage = await runCommand("npx --no-install evaluator-triage nothing.json --offline", {
    cwd: project,
  });
  expect(triage.stderr).toMatch(/^Cannot read \S+nothing\.json: no such file or directory\. /);
  const label = await runCommand("npx --no-install evaluator-cli label nothing.csv", {
    cwd: project,
  });
  expect([label.stderr, triage.stderr].join("")).not.toContain("unexpected");
});

const oldNodes = inject("oldNodes").map(([version, path]) => [version, dirname(path)] as const);

test.each(oldNodes)("on Node %s each program says which Node it needs", async (version, folder) => {
  const options = { cwd: project, env: pathFrom(folder) };
  const needs = `needs Node 22.19 or later, and this is Node ${version}.\n`;
  for (const name of programs) {
    const ended = await runCommand(`node_modules/.bin/${name} --help`, options);
    expect(ended).toEqual({ exitCode: 1, stdout: "", stderr: `${name} ${needs}` });
  }
});

const assistant = `import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
const [, , gateway] = process.argv;
const env = { ...process.env, AI_GATEWAY_API_KEY: "local", EVALUATOR_BASE_URL: gateway, EVALUATOR_MAX_COST_USD: "1" };
const client = new Client({ name: "assistant", version: "1" });
await client.connect(new StdioClientTransport({ command: "npx", args: ["--no-install", "evaluator-cli", "mcp"], env }));
const questions = { scam: { type: "boolean", instructions: "Is it a scam?" } };
const { structuredContent } = await client.callTool({ name: "evaluate", arguments: { state: "You have won the lottery", questions } });
console.log(JSON.stringify(structuredContent.answers), structuredContent.model);
await client.close();
`;

test.each(nodes)(
  "on Node %s an assistant's client asks a question of the installed command over MCP",
  async (_version, folder) => {
    const options = { cwd: project, env: pathFrom(folder) };
    const printed = /gateway +(\S+)\n/;
    const command = "npx --no-install evaluator-cli emulator --port 0";
    const [, gateway = ""] = await startUntil(command, printed, options);
    await writeFile(join(project, "assistant.mjs"), assistant);
    const asked = await outputOf(`node assistant.mjs ${gateway}`, options);
    expect(asked).toMatch(
      /^\{"scam":\{"type":"boolean","probability":0\.\d+\}\} local\/lexical-1\n$/,
    );
  },
);

const middlewareProgram = `import { boolean, createEvaluator, directTransport, gatewayTransport } from "evaluator-client";
import { budget } from "evaluator-client/budget";
import { cache } from "evaluator-client/cache";
import { escalate } from "evaluator-client/escalate";
import { fallback } from "evaluator-client/fallback";
import { createEmulator } from "evaluator-emulator";
const down = createEmulator({ faults: [{ kind: "status", status: 503, path: "/v4/*" }] });
const vendor = createEvaluator({ transport: directTransport({ apiKey: null, fetch: down.fetch }) });
const cached = cache();
const spending = budget({ maxTokens: 1000 });
const transport = gatewayTransport({ apiKey: "local", fetch: down.fetch });
const evaluator = createEvaluator({ transport, maxRetries: 0 }).with(fallback(vendor)).with(spending).with(cached);
const request = { state: "You have won the lottery", questions: { scam: boolean("A scam?") } };
const first = await evaluator.evaluate(request);
await evaluator.evaluate(request);
console.log((await vendor.with(escalate(vendor, { scam: { below: 1 } })).evaluate(request)).route.scam.step, first.transport, cached.savings.hits, spending.spending.tokens > 0);
`;

test("a cached, budgeted call with a fallback", async () => {
  await writeFile(join(project, "middleware.mjs"), middlewareProgram);
  expect(await outputOf("node middleware.mjs", { cwd: project })).toBe("2 direct 1 true\n");
});

test("a program in TypeScript compiles against their types and runs", async () => {
  const program = `import { readFile } from "node:fs/promises";
import { corpCurve } from "evaluator-calibration";
import { boolean, createEvaluator, gatewayTransport } from "evaluator-client";
import { createEmulator, type EmulatorOptions } from "evaluator-emulator";
import { type Connection, DatabaseError, postgresLimits } from "evaluator-runs/postgres";
const options: EmulatorOptions = { engine: "vllm" };
const emulator = createEmulator(options);
const transport = gatewayTransport({ apiKey: "local", fetch: emulator.fetch });
const evaluator = createEvaluator({ transport });
const state = "You have won the lottery";
const { answers } = await evaluator.evaluate({ state, questions: { scam: boolean("A scam?") } });
const own = await readFile("package.json", "utf8");
const nowhere: Connection = { host: "127.0.0.1", port: 1 };
const refused = await postgresLimits(nowhere).catch((error: unknown) => error);
console.log(corpCurve([answers.scam.probability], [1]).brier < 1, own.length > 0);
console.log(refused instanceof DatabaseError && refused.failure);
`;
  await writeFile(join(project, "program.ts"), program);
  const options =
    "--noEmit --strict --module nodenext --target es2024 --lib es2024,dom --types node";
  const types = `--typeRoots ${root}/node_modules/@types --ignoreConfig`;
  await outputOf(`${root}/node_modules/.bin/tsc ${options} ${types} program.ts`, { cwd: project });
  expect(await outputOf("node program.ts", { cwd: project })).toBe("true true\nunreachable\n");
});

const noEnvironment = { AI_GATEWAY_API_KEY: "", EVALUATOR_BASE_URL: "http://127.0.0.1:1" };

test.each([
  ["vitest", "npx --no-install vitest run vitest.test.mjs", /2 passed/],
  ["node:test", "node --test node.test.mjs", /pass 2\b/],
  [
    "jest",
    "node --experimental-vm-modules node_modules/jest/bin/jest.js --testMatch '**/jest.test.mjs'",
    /2 passed/,
  ],
])(
  "a test of one's own code replays in %s, with no key and no network",
  async (_name, command, passed) => {
    await cp(join(root, "examples/testing"), project, { recursive: true });
    const { stdout, stderr, exitCode } = await runCommand(command, {
      cwd: project,
      env: noEnvironment,
    });
    expect({ exitCode, printed: stdout + stderr }).toEqual({
      exitCode: 0,
      printed: expect.stringMatching(passed),
    });
  },
);
