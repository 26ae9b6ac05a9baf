import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { runHere } from "../testing/start-program.ts";
import { toHash, type RouterKey } from "./router-key.ts";

async function openProgram() {
  const path = join(await temporaryFolder(), "router-keys.json");
  const run = (words: string) => runHere("keys", { ROUTER_KEYS: path }, words.split(" "));
  const list = async () => JSON.parse((await run("list --json")).stdout) as RouterKey[];
  return { path, run, list };
}

test("add prints a token once, and the file has only its SHA-256", async () => {
  const { path, run, list } = await openProgram();
  const words =
    "add alice --budget team --usd-per-day 1 --usd-per-month 20 --requests-per-minute 60 --tokens-per-minute 200000 --tiers nano,fast,frontier --models acme/x --expires 2127-01-31 --json";
  const { code, stdout } = await run(words);
  const { token, ...rest } = JSON.parse(stdout) as { token: string };
  expect(code).toBe(0);
  expect(rest).toEqual({ name: "alice", budget: "team", expires: "2127-01-31" });
  expect(token).toMatch(/^rk_[\w-]{43}$/);
  const text = await readFile(path, "utf8");
  expect(text).toContain(toHash(token));
  expect(text).not.toContain(token);
  expect(await list()).toEqual([
    {
      name: "alice",
      budget: "team",
      tiers: ["nano", "fast", "frontier"],
      models: ["acme/x"],
      decisions: null,
      requestsPerMinute: 60,
      tokensPerMinute: 200_000,
      usdPerDay: 1,
      usdPerMonth: 20,
      expires: "2127-01-31",
    },
  ]);
  expect((await run("list")).stdout).toBe(
    "alice (budget team); tiers nano,fast,frontier; models acme/x; requestsPerMinute 60; " +
      "tokensPerMinute 200000; usdPerDay 1; usdPerMonth 20; expires 2127-01-31\n",
  );
  await run("add bob");
  expect((await run("list")).stdout).toMatch(/\nbob \(budget bob\)\n$/);
});

test("a budget has the limits of the last add that names any", async () => {
  const { run, list } = await openProgram();
  await run("add alice --budget team --usd-per-day 1 --usd-per-month 20");
  await run("add bob --budget team");
  await run("add carl");
  const limitsOf = async () =>
    (await list()).map(({ usdPerDay, usdPerMonth }) => [usdPerDay, usdPerMonth]);
  const none = [null, null];
  expect(await limitsOf()).toEqual([[1, 20], [1, 20], none]);
  await run("add dora --budget team --usd-per-day 3");
  expect(await limitsOf()).toEqual([[3, null], [3, null], none, [3, null]]);
});

test("a budget without a limit, such as one named like an amount, is told", async () => {
  const { run } = await openProgram();
  const told = "The budget 0.05 has no limit. Add a key with --usd-per-day or --usd-per-month.\n";
  expect(await run("add alice --budget 0.05")).toMatchObject({ code: 0, stderr: told });
  expect(await run("add bo --budget 0.05 --usd-per-day 1")).toMatchObject({ stderr: "" });
  expect(await run("add cy --budget 0.05")).toMatchObject({ stderr: "" });
  expect(await run("add di")).toMatchObject({ stderr: "" });
});

test("without ROUTER_KEYS, add tells the setting with which a router asks for its keys", async () => {
  const folder = await temporaryFolder();
  const words = [join(import.meta.dirname, "../main.ts"), "keys", "add", "alice"];
  const options = { cwd: folder, env: {} };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, words, options);
  const path = join(folder, "router-keys.json");
  expect(stderr).toBe(`The router asks for keys only with ROUTER_KEYS=${path}\n`);
  expect(await readFile(path, "utf8")).toContain(toHash(stdout.trim()));
  expect(await openProgram().then(({ run }) => run("add alice"))).toMatchObject({ stderr: "" });
});

test("a revoked key is gone, and its name is free", async () => {
  const { run, list } = await openProgram();
  const first = await run("add alice");
  expect(await run("revoke alice --json")).toMatchObject({ stdout: '{"revoked":"alice"}\n' });
  expect(await list()).toEqual([]);
  const second = await run("add alice");
  expect(second.code).toBe(0);
  expect(second.stdout).not.toBe(first.stdout);
});

test.each([
  ["add alice", "There is a key alice already. Choose another name, or revoke it.\n"],
  ["add owner", "The key was not added: name is a name that the router itself uses.\n"],
  ["add bob --tiers nano,big", "The key was not added: tiers[1] is none of nano, fast"],
  ["add bob --expires soon", "The key was not added: expires is not a date, such as 2027-01-31.\n"],
  ["add bob --expires 2020-01-31", "The key was not added: expires is past; give a later date.\n"],
  [
    "add bob --expires 2020-01-31T00:00:00+01:00",
    "The key was not added: expires is past; give a later date.\n",
  ],
  ["add bob --usd-per-day none", "Use a number from 0 up"],
  ["revoke bob", "There is no key of this name. evaluator-router keys list lists them.\n"],
])("%s fails, and changes nothing", async (words, message) => {
  const { run, list } = await openProgram();
  await run("add alice");
  const { code, stdout, stderr } = await run(words);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain(message);
  expect(await list()).toHaveLength(1);
});
