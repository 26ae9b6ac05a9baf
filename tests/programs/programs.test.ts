import { readFileSync } from "node:fs";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { packPackages, publishedPackages } from "../pack-client.ts";
import { outputOf, runCommand, startUntil } from "../run-command.ts";

const root = dirname(dirname(import.meta.dirname));
const { scripts, engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  scripts: Readonly<Record<string, string>>;
  engines: { readonly node: string };
};

/** How a script of the root's package.json is started. */
type Starter = (script: string) => string;

// The sources need a newer Node than what is published, which is compiled for older ones. npm takes
// the one that is pinned, which is the one that runs this.
const oldest = Number.parseInt(engines.node.replace(">=", ""), 10);
const byNpm: [string, Starter] = ["npm", (script) => `npm run ${script} --`];
const others = inject("nodes").filter(
  ([version]) => Number.parseInt(version, 10) >= oldest && version !== process.versions.node,
);
const byNode = others.map(([version, path]): [string, Starter] => [
  `Node ${version}`,
  (script) => (scripts[script] ?? "").replace(/^node /, () => `"${path}" `),
]);

describe.each([byNpm, ...byNode])("started by %s", (_name, start) => {
  test("the router answers a greeting with the tier nano", async () => {
    const options = { cwd: root, env: { PORT: "0" } };
    const [, origin = ""] = await startUntil(start("start"), /router is at (\S+)/, options);
    const headers = { "content-type": "application/json" };
    const body = '{"message":"hi"}';
    const chat = await fetch(`${origin}/chat`, { method: "POST", headers, body });
    expect(await chat.json()).toMatchObject({ tier: "nano", replyError: null });
  });

  test("the self-check passes on recordings", async () => {
    const { exitCode, stdout } = await runCommand(start("router:self-check"), { cwd: root });
    expect(stdout).toContain("3 of 3 prompts passed");
    expect(exitCode).toBe(0);
  });

  test("the triage keeps its answers, and asks for what is missing only", async () => {
    const folder = await mkdtemp(join(tmpdir(), "triage-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const inbox = join(folder, "inbox.json");
    await copyFile(join(root, "fixtures/mail/inbox.json"), inbox);
    const triage = (words: string) =>
      runCommand(`${start("triage")} "${inbox}" --offline ${words}`, { cwd: root });
    expect(await triage("--limit 3")).toMatchObject({ exitCode: 0 });
    const { stdout, stderr, exitCode } = await triage("--limit 5");
    expect({ stdout, stderr, exitCode }).toMatchObject({ exitCode: 0 });
    expect(stdout + stderr).toContain("Answered: 2, 3 answered already");
    const results: unknown = JSON.parse(await readFile(join(folder, "inbox.triage.json"), "utf8"));
    expect(Object.keys(results as object)).toHaveLength(5);
  });
});

const packageOf: Readonly<Record<string, string>> = {
  emulator: "evaluator-emulator",
  evaluator: "evaluator-cli",
};

const project = await mkdtemp(join(tmpdir(), "installed-"));
const installed = inject("nodes").map(([version, path]): [string, Starter] => [
  `what is installed, on Node ${version}`,
  (script) => `"${path}" "${join(project, "node_modules", packageOf[script] ?? "", "bin.js")}"`,
]);

beforeAll(async () => {
  await using packed = await packPackages(publishedPackages());
  await writeFile(join(project, "package.json"), JSON.stringify({ private: true }));
  const files = packed.tarballs.map((path) => `"${path}"`).join(" ");
  const install = `npm install --prefer-offline --ignore-scripts --no-audit --no-fund ${files}`;
  await outputOf(install, { cwd: project });
});
afterAll(() => rm(project, { recursive: true, force: true }));

test.each([byNpm, ...byNode, ...installed])(
  "started by %s the emulator answers the command evaluator-cli",
  async (_name, start) => {
    const options = { cwd: root };
    const printed = /gateway +(\S+)\n/;
    const [, gateway = ""] = await startUntil(`${start("emulator")} --port 0`, printed, options);
    const words = `--state README.md --boolean "Is it about mail?" --engine gateway=${gateway}`;
    const asked = await runCommand(`${start("evaluator")} ask ${words}`, options);
    expect(asked).toMatchObject({ exitCode: 0 });
    expect(asked.stdout).toMatch(/^boolean {2}yes 0\.\d\d\r?$/m);
  },
);
