import { execFile } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { compileCache, temporaryFolder } from "evaluator-kit/testing";
import { loadExchanges } from "evaluator-client/testing";
import { expect, onTestFinished, test } from "vitest";
import { startEmulator } from "../testing/engines.ts";
import { exchangesFolder, startRecord, stoppedClock, testKeys } from "../testing/record.ts";

const gateway = "gateway/greeting-routes-to-nano";
const direct = "direct/three-question-types";

async function startServer(answer: RequestListener) {
  const server = createServer(answer).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const EVALUATOR_BASE_URL = `http://127.0.0.1:${port}/v4/ai`;
  return { server, env: { AI_GATEWAY_API_KEY: testKeys.gateway, EVALUATOR_BASE_URL } };
}

/** Starts `evaluator-cli record` with the given environment. */
function startProgram(words: readonly string[], env: Readonly<Record<string, string>>) {
  const main = fileURLToPath(new URL("../main.ts", import.meta.url));
  const all = [main, "record", "--exchanges", exchangesFolder, ...words];
  return promisify(execFile)(process.execPath, all, { env: { ...compileCache, ...env } });
}

/** Starts an emulator over HTTP until the test ends, and returns the environment that leads to it. */
async function startKeyedEmulator() {
  const { gatewayBaseUrl, directBaseUrl } = await startEmulator({ keys: Object.values(testKeys) });
  return {
    AI_GATEWAY_API_KEY: testKeys.gateway,
    EVALUATOR_BASE_URL: gatewayBaseUrl,
    EVALUATOR_DIRECT_API_KEY: testKeys.direct,
    EVALUATOR_DIRECT_BASE_URL: directBaseUrl,
  };
}

test("records over HTTP into a folder beside the person", async () => {
  const INIT_CWD = await temporaryFolder();
  const env = { ...(await startKeyedEmulator()), INIT_CWD };
  const { stdout, stderr } = await startProgram([gateway, direct, "--out", "mine"], env);
  expect(stderr).toBe("");
  expect(stdout).toContain(`Recorded 2 of 2 in ${join(INIT_CWD, "mine")}\n`);
  const recorded = loadExchanges(join(INIT_CWD, "mine"));
  expect(recorded.map(({ name }) => name)).toEqual([direct, gateway]);
});

test("Ctrl-C ends a run that waits for an answer, with 130 and no file", async () => {
  const INIT_CWD = await temporaryFolder();
  const { server, env } = await startServer(() => undefined);
  const run = startProgram([gateway, "--out", "."], { ...env, INIT_CWD });
  server.on("request", () => run.child.kill("SIGINT"));
  await expect(run).rejects.toMatchObject({ code: 130, stdout: "", stderr: "Interrupted.\n" });
  expect(await readdir(INIT_CWD)).toEqual([]);
});

test.each<[string, RegExp, RequestListener]>([
  ["is cut", /no whole answer came/, (_incoming, { socket }) => socket?.destroy()],
  [
    "leads elsewhere",
    /it answered 307, not 200/,
    (_incoming, outgoing) => void outgoing.writeHead(307, { location: "/v1/models" }).end(),
  ],
])("an answer that %s is reported", async (_what, reason, answer) => {
  const { paths, ...outcome } = await recordFrom(answer);
  expect(outcome).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(reason) });
  expect(paths).toEqual(["/v4/ai/evaluation-model"]);
});

test("an answer that never ends is given up when its time is over", async () => {
  const timers: { delayMs: number; expire: () => void }[] = [];
  const clock: typeof stoppedClock = {
    ...stoppedClock,
    schedule(delayMs, expire) {
      timers.push({ delayMs, expire });
      return () => undefined;
    },
  };
  const outcome = await recordFrom(
    (_incoming, outgoing) => outgoing.write("{", () => timers[0]?.expire()),
    { clock },
  );
  expect(timers.map(({ delayMs }) => delayMs)).toEqual([30_000]);
  expect(outcome).toMatchObject({
    exitCode: 2,
    stderr: `${gateway}: not recorded: no whole answer came within 30000 ms\n`,
  });
});

async function recordFrom(answer: RequestListener, given: Parameters<typeof startRecord>[1] = {}) {
  const paths: unknown[] = [];
  const { env } = await startServer((incoming, outgoing) => {
    paths.push(incoming.url);
    answer(incoming, outgoing);
  });
  const argv = [gateway, "--out", await temporaryFolder()];
  const outcome = await startRecord(argv, { env, fetch, ...given });
  expect(outcome.stderr).not.toContain(testKeys.gateway);
  return { ...outcome, paths };
}

test("a service that is not there is reported with the reason", async () => {
  const { server, env } = await startServer(() => undefined);
  server.close();
  await once(server, "close");
  const argv = [gateway, "--out", await temporaryFolder()];
  const { stderr } = await startRecord(argv, { env, fetch });
  expect(stderr).toBe(`${gateway}: not recorded: no whole answer came (ECONNREFUSED)\n`);
});

test("compares over HTTP, in CI too", async () => {
  const env = { ...(await startKeyedEmulator()), CI: "true" };
  const outcome = await startProgram(["--compare"], env);
  expect(outcome).toEqual({ stdout: "Compared 30 of 30: the shapes agree\n", stderr: "" });
});
