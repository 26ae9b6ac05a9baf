import { exec } from "node:child_process";
import { cp, mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { isDeepStrictEqual, promisify } from "node:util";
import { createEmulator } from "evaluator-emulator";
import { nodeVersions } from "../install-nodes.ts";
import { installPackages, packPackages } from "../pack-client.ts";

// Checks the client as it would be published on each promised runtime. The runtimes come from the
// npm registry, each into a temporary folder. An argument picks those with it in their name.

/** A runtime: the packages beside the client, the command, and whether it is too old. */
interface Runtime {
  readonly name: string;
  readonly packages: readonly string[];
  readonly command: string;
  /** Whether its fetch tells a connection that never came about from one that broke. @default true */
  readonly tellsRefusals?: boolean;
  readonly isTooOld?: boolean;
}

const { promised, tooOld } = nodeVersions;
const onNode = (version: string) => ({
  name: tooOld.includes(version) ? `Node ${version}, which is too old` : `Node ${version}`,
  packages: [`node@${version}`],
  command: "node_modules/.bin/node program.mjs",
  isTooOld: tooOld.includes(version),
});
const runtimes: readonly Runtime[] = [
  ...[...promised, ...tooOld].map(onNode),
  {
    ...onNode("24.21.0"),
    name: "Node 24.21.0 with the oldest zod and undici",
    packages: ["node@24.21.0", "zod@4.0.0", "undici@8.7.0"],
  },
  {
    name: "Bun 1.4.5",
    packages: ["bun@1.4.5"],
    command: "node_modules/.bin/bun program.mjs",
  },
  {
    name: "Deno 2.9.6",
    packages: ["deno@2.9.6"],
    command: "node_modules/.bin/deno run --allow-net --allow-env program.mjs",
  },
  {
    name: "workerd 1.20260730.1",
    packages: ["miniflare@4.20260730.0", "esbuild@0.28.2"],
    command:
      "node_modules/.bin/esbuild worker.mjs --bundle --format=esm --conditions=workerd,worker,browser --outfile=worker.js --log-level=warning && node run-worker.mjs",
    tellsRefusals: false,
  },
];
// Runtimes bring their programs by scripts of installation.
const allowScripts = { bun: true, deno: true, esbuild: true, node: true, workerd: true };

const expected = {
  modelId: "local/lexical-1",
  probability: 0.55,
  models: true,
  aborted: "enough",
};

/** Returns what is wrong on a runtime, or null. */
async function check(
  runtime: Runtime,
  { tarball, baseUrl }: { tarball: string; baseUrl: string },
): Promise<string | null> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "runtime-"));
  const cwd = folder.path;
  const manifest = { name: "empty", private: true, type: "module", allowScripts };
  await writeFile(join(cwd, "package.json"), JSON.stringify(manifest));
  await installPackages(cwd, [tarball, ...runtime.packages]);
  await cp(import.meta.dirname, cwd, {
    recursive: true,
    filter: (path) => path === import.meta.dirname || path.endsWith(".mjs"),
  });
  const ran = promisify(exec)(`${runtime.command} ${baseUrl}`, { cwd, timeout: 60_000 });
  return judge(runtime, await ran.catch((error: { stdout: string; stderr: string }) => error));
}

function judge(
  { isTooOld = false, tellsRefusals = true }: Runtime,
  { stdout, stderr }: { stdout: string; stderr: string },
): string | null {
  if (isTooOld) {
    const saysSo = /Error: evaluator-client needs Node 22\.19 or later, and this is/.test(stderr);
    return saysSo ? null : `It does not say that it is too old:\n${stderr}`;
  }
  const line = stdout.trim().split("\n").at(-1) ?? "";
  if (!line.startsWith("{")) return `${stdout}${stderr}`;
  const { failure, ...others } = JSON.parse(line) as { failure: { message: string } };
  const { message, ...failed } = failure;
  const refused = { name: "ConnectionError", isRetryable: true, maybeBilled: !tellsRefusals };
  const words = tellsRefusals ? "Could not connect to" : "The connection to";
  const isRight = isDeepStrictEqual([others, failed], [expected, refused]);
  return isRight && message.startsWith(`${words} http://127.0.0.1:3`) ? null : line;
}

const [only = ""] = process.argv.slice(2);
let failures = 0;
const emulator = createEmulator();
try {
  await using client = await packPackages(["evaluator-client"]);
  const { gatewayBaseUrl: baseUrl } = await emulator.listen();
  for (const runtime of runtimes.filter(({ name }) => name.includes(only))) {
    const problem = await check(runtime, { tarball: client.tarballs[0] ?? "", baseUrl });
    process.stdout.write(
      problem === null ? `right  ${runtime.name}\n` : `WRONG  ${runtime.name}\n${problem}\n`,
    );
    if (problem !== null) failures += 1;
  }
} finally {
  await emulator.close();
}
process.exitCode = failures === 0 ? 0 : 1;
