import { hash } from "node:crypto";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEmulator } from "evaluator-emulator";
import { selfSignedCertificate } from "evaluator-kit";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { packPackages } from "../pack-client.ts";
import { outputOf, readCodeBlocks } from "../run-command.ts";

const root = join(import.meta.dirname, "../..");
let project = "";
let tarball = "";

beforeAll(async () => {
  const packed = await packPackages(["evaluator-client"]);
  project = await makeEmptyFolder();
  tarball = packed.tarballs[0] ?? "";
  await fillProject();
  return async () => {
    await packed[Symbol.asyncDispose]();
    await rm(project, { recursive: true, force: true });
  };
});

/**
 * Makes a folder outside of the repository: one of the same name in every run, if nobody is in it,
 * since Node keeps what it compiled by the path of the file.
 */
async function makeEmptyFolder(): Promise<string> {
  const own = join(tmpdir(), `empty-project-${hash("sha256", root).slice(0, 12)}`);
  return mkdir(own).then(
    () => own,
    () => mkdtemp(`${own}-`),
  );
}

/** Makes the empty folder a project that has installed the package. */
async function fillProject(): Promise<void> {
  const manifest = { name: "empty", private: true, type: "module" };
  await writeFile(join(project, "package.json"), JSON.stringify(manifest));
  await install(project);
  // Interceptors may be anywhere: to install them takes as long as all the rest.
  for (const name of ["msw", "nock"]) {
    await symlink(
      join(root, "node_modules", name),
      join(project, "node_modules", name),
      "junction",
    );
  }
}

async function install(cwd: string, ...others: readonly string[]): Promise<void> {
  const command = `npm install --prefer-offline --ignore-scripts --no-audit --no-fund`;
  // Of the package's dependencies npm links what the repository has, if the versions are in the
  // package's ranges, which is half the work of unpacking them again.
  const linked = ["undici", "zod"].map((name) => join(root, "node_modules", name));
  await outputOf([command, tarball, ...linked, ...others].join(" "), { cwd });
}

test("the README's example compiles and prints its result in an empty project", async () => {
  const [snippet = ""] = readCodeBlocks("README.md", "ts");
  const [printed] = readCodeBlocks("README.md", "text");
  await writeFile(join(project, "snippet.ts"), snippet);
  const options = "--noEmit --strict --module nodenext --target es2024 --lib es2024,dom";
  // TypeScript's own declarations are not checked, and its memory is not collected: a third of the work.
  const compile = `${root}/node_modules/.bin/tsc ${options} --skipDefaultLibCheck --ignoreConfig`;
  await outputOf(`${compile} snippet.ts`, { cwd: project, env: { GOGC: "off" } });
  const emulator = createEmulator();
  onTestFinished(() => emulator.close());
  const { gatewayBaseUrl } = await emulator.listen();
  const env = { AI_GATEWAY_API_KEY: "local", EVALUATOR_BASE_URL: gatewayBaseUrl };
  const stdout = await outputOf("node snippet.ts", { cwd: project, env });
  expect(stdout).toBe(printed);
});

const loading = `import { createRequire, registerHooks } from "node:module";
const loaded = { own: 0, undici: 0, http2: 0 };
registerHooks({
  load(url, context, next) {
    if (/\\/evaluator-client\\//.test(url)) loaded.own += 1;
    if (/\\/undici\\//.test(url)) loaded.undici += 1;
    if (url === "node:http2") loaded.http2 += 1;
    return next(url, context);
  },
});
const { createEvaluator, gatewayTransport } =
  process.argv[2] === "require"
    ? createRequire(import.meta.url)("evaluator-client")
    : await import("evaluator-client");
const transport = gatewayTransport({ apiKey: "k", baseUrl: "http://127.0.0.1:9", env: {} });
try {
  gatewayTransport({ apiKey: "k", dispatcher: {} });
} catch (error) {
  console.log(error.name, error.option);
}
await createEvaluator({ transport }).close();
console.log(JSON.stringify(loaded));
`;

test.each(["import", "require"])(
  "%s loads two files, and the end of an unused client no more",
  async (way) => {
    await writeFile(join(project, "loading.mjs"), loading);
    const printed = await outputOf(`node loading.mjs ${way}`, { cwd: project });
    expect(printed).toBe('ConfigurationError dispatcher\n{"own":2,"undici":0,"http2":0}\n');
  },
);

const failing = `import { boolean, createEvaluator, gatewayTransport } from "evaluator-client";
const transport = gatewayTransport({ apiKey: "k", baseUrl: process.argv[2], env: {} });
const evaluator = createEvaluator({ transport, maxRetries: 0 });
const ask = evaluator.evaluate({ state: "text", questions: { sure: boolean("Sure?") } });
ask.catch((error) => console.log(error.name, error.constructor.name, error.message));
`;

/** Bundles the failing call, and returns the file. */
async function bundleFailing(format: string): Promise<string> {
  const out = format === "cjs" ? "failing.cjs" : "failing.min.mjs";
  await writeFile(join(project, "failing.mjs"), failing);
  const bundle = `${root}/node_modules/.bin/esbuild failing.mjs --bundle --minify --platform=node`;
  await outputOf(`${bundle} --format=${format} --outfile=${out}`, { cwd: project });
  return out;
}

test.each([
  ["cjs", /^ConnectionError ConnectionError Could not connect/],
  ["esm", /^ConfigurationError ConfigurationError undici cannot be loaded: .*--external:undici/],
])("minified as %s, errors keep their names", async (format, printed) => {
  const call = `node ${await bundleFailing(format)} http://127.0.0.1:9`;
  expect(await outputOf(call, { cwd: project })).toMatch(printed);
});

test("a call that cannot load undici closes its connection, so that the program ends", async () => {
  const waiting = { ...selfSignedCertificate(), headersTimeout: 0, requestTimeout: 0 };
  const server = createServer(waiting).listen(0, "127.0.0.1");
  onTestFinished(() => server.close().closeAllConnections());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const call = `node ${await bundleFailing("esm")} https://127.0.0.1:${port}`;
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: "0" };
  expect(await outputOf(call, { cwd: project, env })).toMatch(/^ConfigurationError .*undici/);
});

test("is installed beside versions of its peers that no used entry needs", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "older-peers-"));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  await mkdir(join(cwd, "ai"));
  await writeFile(join(cwd, "ai/package.json"), '{ "name": "ai", "version": "4.0.0" }');
  await writeFile(join(cwd, "package.json"), '{ "private": true }');
  await expect(install(cwd, "./ai")).resolves.toBeUndefined();
});

test("its declarations compile beside the oldest versions of its dependencies", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "oldest-"));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  await writeFile(join(cwd, "package.json"), '{ "private": true, "type": "module" }');
  const manifest = await readFile(join(project, "node_modules/evaluator-client/package.json"));
  const { dependencies, exports } = JSON.parse(manifest.toString()) as Record<string, object>;
  const oldest = Object.entries(dependencies ?? {}).map(([name, range]) => {
    return `${name}@${String(range).replace("^", "")}`;
  });
  expect(oldest).toHaveLength(2);
  const types = join(root, "node_modules/@types/node");
  const install = "npm install --prefer-offline --ignore-scripts --no-audit --no-fund";
  await outputOf([install, tarball, ...oldest, types].join(" "), { cwd });
  // Of its peers, none is installed.
  const entries = Object.keys(exports ?? {}).filter((entry) => !/ai-sdk|opentel|json/.test(entry));
  const lines = entries.map((entry) => `export type {} from "evaluator-client${entry.slice(1)}";`);
  await writeFile(join(cwd, "entries.ts"), lines.join("\n"));
  const options = "--noEmit --strict --module nodenext --target es2024 --lib es2024 --types node";
  const compile = `${root}/node_modules/.bin/tsc ${options} --skipDefaultLibCheck --ignoreConfig`;
  await outputOf(`${compile} entries.ts`, { cwd, env: { GOGC: "off" } });
});

const olderDispatcher = `import { boolean, createEvaluator, gatewayTransport } from "evaluator-client";
const older = Symbol.for("undici.globalDispatcher.1");
const agent = new (class { static error = "factory must be a function."; })();
agent[Symbol("options")] = {};
agent[Symbol("factory")] = (origin, options) => options.connections;
globalThis[older] = agent;
const transport = gatewayTransport({ apiKey: "k", baseUrl: "http://127.0.0.1:9", env: {} });
const evaluator = createEvaluator({ transport, maxRetries: 0 });
const ask = evaluator.evaluate({ state: "text", questions: { sure: boolean("Sure?") } });
console.log(await ask.catch(({ name }) => name), globalThis[older] === agent);
`;

test("undici, loaded by the first call, leaves the program's dispatcher of an older undici", async () => {
  await writeFile(join(project, "older.mjs"), olderDispatcher);
  expect(await outputOf("node older.mjs", { cwd: project })).toBe("ConnectionError true\n");
});

const schemas = `import { booleanAnswerSchema, questionSchema } from "evaluator-client";
import { z } from "zod";
const labelled = z.object({ question: questionSchema, answers: z.array(booleanAnswerSchema) });
const question = { type: "boolean", instructions: "Is it a scam?" };
const answers = [{ type: "boolean", probability: 0.5 }];
console.log(labelled.parse({ question, answers }).answers[0].probability);
const { error } = labelled.safeParse({ question, answers: [{ type: "boolean", probability: "0.5" }] });
console.log(error.issues[0].path.join("."), error.issues[0].message);
const standard = questionSchema["~standard"].validate({ ...question, instructions: 1 });
console.log(standard.issues.length, standard.issues[0].path.join("."));
`;

test("its schemas are a part of those of the program's own zod, and Standard Schemas", async () => {
  await writeFile(join(project, "schemas.mjs"), schemas);
  expect(await outputOf("node schemas.mjs", { cwd: project })).toBe(
    "0.5\nanswers.0.probability Invalid input: expected number, received string\n1 instructions\n",
  );
});

const interceptors = ["msw", "MockAgent", "fetch", "nock"];

/** Returns what a program with interceptors prints, and how many requests reached a real service. */
async function runIntercepted(order: string, names: readonly string[]) {
  const program = new URL(import.meta.resolve("evaluator-client/intercepted-program"));
  await cp(program, join(project, "intercepted.ts"));
  const emulator = createEmulator();
  onTestFinished(() => emulator.close());
  const { origin } = await emulator.listen();
  const command = `node intercepted.ts evaluator-client ${names.join()} "${order}" ${origin}`;
  const stdout = await outputOf(command, { cwd: project });
  const log = await fetch(`${origin}/_emulator/requests`);
  const { requests } = (await log.json()) as { requests: unknown[] };
  return { lines: stdout.trimEnd().split("\n"), requests: requests.length };
}

const beforeCalls = ["before the SDK is imported", "after the SDK is imported"].flatMap((order) =>
  interceptors.map((name) => ({ name, order })),
);

test.each(beforeCalls)("nothing leaves with $name set up $order", async ({ name, order }) => {
  const printed = await runIntercepted(order, [name]);
  expect(printed).toEqual({ lines: ["then: intercepted"], requests: 0 });
});

// One program, in which each is taken away before the next: the real call before each shows that
// nothing of the one before is left.
test("nothing leaves with any of them set up after a first real call", async () => {
  const printed = await runIntercepted("after a first real call", interceptors);
  const lines = interceptors.flatMap(() => ["first: ", "then: intercepted"]);
  expect(printed).toEqual({ lines, requests: interceptors.length });
});
