import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { boolean, gatewayTransport } from "evaluator-client";
import { CliError } from "evaluator-kit";
import { openJournal } from "evaluator-runs";
import { expect, onTestFinished, test } from "vitest";
import { folderOf, plain, readComparison } from "../testing/comparison.ts";
import { chatReply, closedAddress, startEmulator, startServer } from "../testing/engines.ts";
import { run } from "../testing/run.ts";

test("what a run was cut short of is asked for by the next one, and nothing twice", async () => {
  const { gatewayBaseUrl, directBaseUrl, paths } = await startEmulator();
  const cwd = await folderOf(12);
  const engines = ["--engine", `gateway=${gatewayBaseUrl}`, "--engine", `direct=${directBaseUrl}`];
  const words = [...plain, ...engines, "--concurrency", "1"];
  const stopped = await run(cwd, [...words, "--max-cost", "0.00003"]);
  expect(stopped.exitCode).toBe(1);
  const asked = (await paths()).length;
  expect(stopped.stderr).toMatch(/Stopped at --max-cost: .* raise --max-cost to go on\.\n/);
  expect(stopped.stderr).toContain(`has ${12 - asked} records left`);
  expect(asked).toBeGreaterThan(0);
  expect(asked).toBeLessThan(12);
  expect(await run(cwd, words)).toMatchObject({ exitCode: 0 });
  expect(await paths()).toHaveLength(24);
});

test("a maximum cost: a service of unknown price is refused before another is asked; a typed price counts", async () => {
  const { origin, paths } = await startEmulator();
  const cwd = await folderOf(12);
  const unpriced = `fireworks=${origin}/inference@m,key=K`;
  const words = [...plain, "--max-cost", "1", "--engine", `openai=${origin},key=K`, "--engine"];
  const refused = await run(cwd, [...words, unpriced], { env: { K: "any" } });
  expect(refused.stderr).toContain(`no list has the price of ${unpriced}; nothing was sent.`);
  expect([refused.exitCode, await paths()]).toEqual([1, []]);
  const kept = await run(cwd, [...words, `${unpriced},price=0.2`], { env: { K: "any" } });
  expect([kept.exitCode, (await paths()).length]).toEqual([0, 24]);
  const { engines } = await readComparison(cwd);
  const [listed = 0, typed = 0] = engines.map(({ spentUsd }) => spentUsd ?? 0);
  expect(typed / listed).toBeCloseTo(2); // the price of the row is 0.1
});

test("a maximum cost: an engine on this machine without a key costs nothing", async () => {
  const { gatewayBaseUrl, directBaseUrl } = await startEmulator();
  const cwd = await folderOf(2);
  const own = ["--engine", `gateway=${gatewayBaseUrl}`, "--engine", `direct=${directBaseUrl}`];
  const { stderr, exitCode } = await run(cwd, [...plain, ...own, "--max-cost", "1"]);
  expect(stderr).toContain(`direct=${directBaseUrl}: 2 answered`);
  expect(exitCode).toBe(0);
});

test("an engine may spend the rest that the engines before it left", async () => {
  const [one, other] = [await startEmulator(), await startEmulator()];
  const urls = [one.gatewayBaseUrl, other.gatewayBaseUrl];
  const engines = urls.flatMap((url) => ["--engine", `gateway=${url}`]);
  const words = [...plain, ...engines, "--concurrency", "1"];
  const whole = await folderOf(12);
  await run(whole, words);
  const { engines: compared } = await readComparison(whole);
  const maxCost = String(2.1 * (compared[0]?.spentUsd ?? 0));
  const cwd = await folderOf(12);
  const { stderr } = await run(cwd, [...words, "--max-cost", maxCost]);
  expect(stderr).toContain(`gateway=${urls[0]}: 12 answered`);
  expect(stderr).toMatch(/ has [3-9] records left\./);
  // The same command spends its maximum no second time, though the first engine has nothing to do.
  const asked = await other.paths();
  const again = await run(cwd, [...words, "--max-cost", maxCost]);
  expect([again.exitCode, await other.paths()]).toEqual([1, asked]);
  expect(again.stderr.split("Stopped")[1]).toBe(stderr.split("Stopped")[1]);
});

test("an engine at fault is an error at its first call, and no answer is made up", async () => {
  const { gatewayBaseUrl } = await startEmulator();
  const broken = {
    absent: `logprobs=${await closedAddress()}@m`,
    thinking: `logprobs=${(await startEmulator({ engine: "ollama", faults: [{ kind: "thinking-first" }] })).origin}@m`,
    silent: `logprobs=${(await startEmulator({ engine: "openai", faults: [{ kind: "no-logprobs" }] })).origin}@m`,
    massless: `logprobs=${await startServer({
      "/v1/models": { json: { data: [{ id: "m", owned_by: "library" }] } },
      "/v1/chat/completions": {
        json: chatReply([
          ["The", -0.01],
          ["yes", -6],
        ]),
      },
    })}@m`,
  };
  const messages = {
    absent: "Could not connect",
    thinking: "Switch thinking off",
    silent: "without log-probabilities",
    massless: "rule label-mass",
  };
  const cwd = await folderOf(40);
  for (const name of ["absent", "thinking", "silent", "massless"] as const) {
    const engines = ["--engine", `gateway=${gatewayBaseUrl}`, "--engine", broken[name]];
    const { exitCode, stdout, stderr } = await run(cwd, [...plain, ...engines]);
    expect(stderr).toContain(messages[name]);
    expect(exitCode).toBe(1);
    expect(stdout).toBe("");
  }
  await expect(readComparison(cwd)).rejects.toThrow("no such file");
});

/** Runs a comparison whose file of answers cannot be used; it asks for nothing. */
async function refusalOf(writeAnswers: (path: string) => Promise<void> | void): Promise<string> {
  const { gatewayBaseUrl, directBaseUrl, paths } = await startEmulator();
  const cwd = await folderOf(4);
  await mkdir(join(cwd, "comparison"));
  await writeAnswers(join(cwd, "comparison", "answers.sqlite"));
  const engines = ["--engine", `gateway=${gatewayBaseUrl}`, "--engine", `direct=${directBaseUrl}`];
  const { exitCode, stdout, stderr } = await run(cwd, [...plain, ...engines]);
  expect([exitCode, stdout, await paths()]).toEqual([1, "", []]);
  await expect(readComparison(cwd)).rejects.toThrow("no such file");
  return stderr;
}

test.each([
  ["a damaged file", `SQLite format 3\u0000${"x".repeat(5000)}`],
  ["a file of notes", "my own notes"],
])("%s in the place of the answers is named and left unchanged", async (_, content) => {
  let path = "";
  const stderr = await refusalOf((given) => writeFile((path = given), content));
  expect(stderr).toMatch(
    /answers\.sqlite is not a journal\. .* choose another folder with --out\.\n/,
  );
  expect(await readFile(path, "utf8")).toBe(content);
});

test("answers of a release before the journal are refused with the next step", async () => {
  const stderr = await refusalOf((path) => {
    using database = new DatabaseSync(path);
    database.exec("CREATE TABLE outcomes (engine TEXT, call TEXT, evaluation TEXT, failure TEXT)");
    database.exec("PRAGMA application_id = 1163281232; PRAGMA user_version = 1");
  });
  expect(stderr).toMatch(/not a journal of this program; .* choose another folder with --out\.\n/);
});

test("a second comparison at once is refused", async () => {
  const transport = gatewayTransport({ apiKey: "local", env: {} });
  const questions = { scam: boolean("Does it look like a scam?") };
  const stack = new DisposableStack();
  onTestFinished(() => stack.dispose());
  const stderr = await refusalOf(
    (path) => void stack.use(openJournal(path, { questions, transport })),
  );
  expect(stderr).toContain("answers.sqlite is in use by another run; wait for its end");
});

test("an interrupted run keeps its answers, and the next one goes on", async () => {
  const { gatewayBaseUrl, directBaseUrl, paths } = await startEmulator();
  const cwd = await folderOf(6);
  const engines = ["--engine", `gateway=${gatewayBaseUrl}`, "--engine", `direct=${directBaseUrl}`];
  const words = [...plain, ...engines, "--concurrency", "1"];
  const interruption = new AbortController();
  const stderr = {
    write(text: string) {
      if (text.startsWith("direct="))
        interruption.abort(new CliError("Interrupted.", { exitCode: 130 }));
    },
  };
  const given = { signal: interruption.signal, stderr };
  expect(await run(cwd, words, given)).toMatchObject({ exitCode: 130, stdout: "" });
  const whole = await run(cwd, words);
  expect(whole.stderr).toContain("/v4/ai: 0 answered, 6 answered already, 0 failed.");
  expect(await paths()).toHaveLength(12);
});
