import { readFile, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { get } from "node:https";
import { createServer } from "node:net";
import { join } from "node:path";
import { selfSignedCertificate } from "evaluator-kit";
import { createTestContext, temporaryFolder } from "evaluator-kit/testing";
import { expect, onTestFinished, test } from "vitest";
import { runEmulator } from "./program.ts";

/** Runs the program in this process until the test is over, and returns what it prints when it listens. */
async function start(words: string, cwd: string) {
  const interruption = new AbortController();
  let listening = (_printed: string): void => undefined;
  const printed = new Promise<string>((resolve) => (listening = resolve));
  const context = createTestContext({
    cwd,
    signal: interruption.signal,
    stdout: { write: (text) => listening(text) },
  });
  const exited = runEmulator(words.split(" ").filter(Boolean), context);
  onTestFinished(async () => {
    interruption.abort();
    expect(await exited).toBe(0);
  });
  return await Promise.race([printed, exited.then(() => context.printed.stderr)]);
}

async function run(words: string, cwd = "/") {
  const context = createTestContext({ cwd });
  const exitCode = await runEmulator(words.split(" "), context);
  return { exitCode, ...context.printed };
}

function statusOver(url: string, ca: string, headers = {}): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { ca, headers, servername: "localhost" }, (response) =>
      resolve(response.resume().statusCode),
    ).on("error", reject);
  });
}

test("tells how it is started, and its version", async () => {
  const help = await run("--help");
  expect(help).toMatchObject({ exitCode: 0, stderr: "" });
  expect(help.stdout).toContain("KIND[=VALUE]");
  const { version } = JSON.parse(
    await readFile(new URL("../package.json", import.meta.url), "utf8"),
  ) as { version: string };
  expect(await run("--version")).toEqual({ exitCode: 0, stdout: `${version}\n`, stderr: "" });
});

test("a taken default port gives way to the next free one; a typed one ends it", async () => {
  const taken = createServer().listen(8787, "127.0.0.1");
  onTestFinished(() => void taken.close());
  await once(taken, "listening").catch(() => undefined); // taken by another program
  const [, port = ""] = /gateway +http:\/\/127\.0\.0\.1:(\d+)\//.exec(await start("", "/")) ?? [];
  expect(Number(port)).toBeGreaterThan(8787);
  const typed = await run("--port 8787");
  expect(typed.exitCode).toBe(1);
  expect(typed.stderr).toMatch(/^Port 8787 on 127\.0\.0\.1 is taken; stop what uses it, or choose/);
});

test("names a file that cannot be read", async () => {
  const cwd = await temporaryFolder();
  const rules = await run("--rules none.json", cwd);
  expect(rules.stderr).toContain(
    `Cannot read ${join(cwd, "none.json")}: no such file or directory. Check the path.`,
  );
  const cert = await run("--cert none.pem --key none.pem", cwd);
  expect(cert).toMatchObject({ exitCode: 1 });
  expect(cert.stderr).toContain("none.pem");
});

test("a certificate it makes is all that a client has to trust, and its key is in no file", async () => {
  const cwd = await temporaryFolder();
  const printed = await start("--port 0 --tls ca.pem", cwd);
  const [, origin = ""] = /gateway +(https:\/\/127\.0\.0\.1:\d+)\/v4\/ai\n/.exec(printed) ?? [];
  expect(printed).toContain(`trust    ${join(cwd, "ca.pem")}\n`);
  const certificate = await readFile(join(cwd, "ca.pem"), "utf8");
  expect(certificate).not.toContain("PRIVATE");
  expect(await statusOver(`${origin}/v1/models`, certificate)).toBe(200);
  expect(await statusOver(`${origin}/v1/models`, certificate, { host: "example.com" })).toBe(403);
  const other = selfSignedCertificate().cert;
  await expect(statusOver(`${origin}/v1/models`, other)).rejects.toThrow(/certificate/);
});

test("a certificate of yours is used; one with another's key is rejected", async () => {
  const cwd = await temporaryFolder();
  const own = selfSignedCertificate();
  await writeFile(join(cwd, "cert.pem"), own.cert);
  await writeFile(join(cwd, "key.pem"), own.key);
  const printed = await start("--port 0 --cert cert.pem --key key.pem", cwd);
  const [origin = ""] = /https:\/\/127\.0\.0\.1:\d+/.exec(printed) ?? [];
  expect(await statusOver(`${origin}/v1/models`, own.cert)).toBe(200);
  await writeFile(join(cwd, "key.pem"), selfSignedCertificate().key);
  const mismatch = await run("--port 0 --cert cert.pem --key key.pem", cwd);
  expect(mismatch.stderr).toContain("they belong together");
});

test("it is called from elsewhere only where a name is allowed, and by no other", async () => {
  const rejected = await run("--port 0 --host 0.0.0.0");
  expect(rejected).toMatchObject({ exitCode: 1 });
  expect(rejected.stderr).toContain("--allow-host NAME");
  const cwd = await temporaryFolder();
  const printed = await start("--port 0 --host 0.0.0.0 --allow-host Emulator --tls ca.pem", cwd);
  const [, origin = "", port = ""] = /gateway +(https:\S+:(\d+))\//.exec(printed) ?? [];
  const certificate = await readFile(join(cwd, "ca.pem"), "utf8");
  const url = `${origin}/v1/models`;
  expect(await statusOver(url, certificate, {})).toBe(200);
  expect(await statusOver(url, certificate, { host: `emulator:${port}` })).toBe(200);
  expect(await statusOver(url, certificate, { host: "emulator.example" })).toBe(403);
});
