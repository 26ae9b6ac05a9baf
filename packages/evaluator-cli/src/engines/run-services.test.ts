import { serviceRows, services } from "evaluator-client";
import { PostgresRuns } from "evaluator-runs/postgres";
import { openPglite } from "evaluator-runs/testing";
import { expect, test } from "vitest";
import { startEmulator } from "../testing/engines.ts";
import { run as runWords } from "../testing/run.ts";
import { folderOf, runTable as run, tickets } from "../testing/tickets.ts";

test("a dry run of a paid engine needs no key, sends nothing, and prints price and time", async () => {
  const cwd = await folderOf({ "tickets.csv": tickets });
  const words = ["run", "tickets.csv", "--questions", "q.json", "--dry-run"];
  const { exitCode, stdout } = await runWords(cwd, [...words, "--engine", "direct"]);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(
    /^To ask: 3 records, about \d+ tokens, \$0\.0000\d+ \(.*\), 1 s at 0\.3 s a call\.\n/,
  );
});

test.each([
  ["on a terminal a run that may cost money asks first", [], 1, ["Spend about $0.0000"]],
  ["--yes asks nothing", ["--yes"], 0, []],
])("%s", async (_, words, exitCode, asked) => {
  const { gatewayBaseUrl } = await startEmulator();
  const cwd = await folderOf({ "tickets.csv": tickets });
  const questionsAsked: string[] = [];
  const confirm = async (question: string) => questionsAsked.push(question) > 1;
  const env = { SOME_KEY: "any" };
  const engine = ["--engine", `gateway=${gatewayBaseUrl},key=SOME_KEY`];
  const all = ["run", "tickets.csv", "--questions", "q.json", ...engine, ...words];
  const ended = await runWords(cwd, all, { env, confirm });
  expect(ended.exitCode).toBe(exitCode);
  expect(questionsAsked.map((text) => text.slice(0, 19))).toEqual(asked);
});

test("a run of an engine on this machine without a key costs nothing and is not asked about", async () => {
  const { gatewayBaseUrl } = await startEmulator();
  const cwd = await folderOf({ "tickets.csv": tickets });
  const confirm = () => Promise.reject(new Error("asked"));
  const words = ["run", "tickets.csv", "--questions", "q.json"];
  const all = [...words, "--engine", `gateway=${gatewayBaseUrl}`];
  expect((await runWords(cwd, all, { confirm })).exitCode).toBe(0);
});

test.each(services)(
  "--max-cost is kept at %s, or refused before anything is sent",
  async (service) => {
    const { origin, paths } = await startEmulator();
    const cwd = await folderOf({ "tickets.csv": tickets });
    const { model, prices } = serviceRows[service];
    const engine = `${service}=${origin}${model === null ? "@accounts/a/models/m" : ""},key=K`;
    const all = ["run", "tickets.csv", "--questions", "q.json", "--engine", engine, "--max-cost"];
    const env = { K: "any", CLOUDFLARE_ACCOUNT_ID: "an-account" };
    const small = await runWords(cwd, [...all, "0.0001", "--price", "500"], { env });
    expect(small.stderr).toContain("more than $0.0001 (--max-cost)");
    const isPriced = prices !== undefined;
    const { exitCode, stderr } = await runWords(cwd, [...all, "1"], { env });
    const kept = `a million tokens: the price of ${service})`;
    const refused = `no list has the price of accounts/a/models/m through ${service}; nothing was sent. Set --price USD`;
    expect(stderr).toContain(isPriced ? kept : refused);
    expect([exitCode, (await paths()).length]).toEqual(isPriced ? [0, 3] : [1, 0]);
  },
);

test("a journal in PostgreSQL is shared, by --journal or EVALUATOR_JOURNAL", async () => {
  const database = await openPglite();
  const openRuns = () => PostgresRuns.open({ ...database, close: async () => {} });
  const cwd = await folderOf({ "tickets.csv": tickets });
  const url = "postgres://ada@db.example.com/tickets";
  const first = await run(cwd, ["tickets.csv", "--journal", url, "--limit", "2"], { openRuns });
  expect(first.stderr).toContain("other machines join with: evaluator-cli work --run 1");
  const given = { openRuns, env: { EVALUATOR_JOURNAL: url } };
  const whole = await run(cwd, ["tickets.csv"], given);
  expect(whole.stderr).toContain("Run 2 answered: 1, 2 answered already. Took ");
  const exported = await runWords(cwd, ["export", "--format", "csv"], given);
  expect(exported.stdout).toMatch(/^id,refund\nt-1,0\.\d+\nt-2,0\.\d+\nt-3,0\.\d+\n$/);
  const words = ["pick", "--budget", "3", "--answers"];
  const picked = await runWords(cwd, [...words, url], given);
  expect(picked.stdout.match(/"id":"t-\d"/g)?.toSorted()).toEqual(
    ["t-1", "t-2", "t-3"].map((id) => `"id":"${id}"`),
  );
  expect(picked.stdout + picked.stderr).not.toContain("ada");
  const ofFirst = await runWords(cwd, [...words, `${url}#1`], given);
  expect(ofFirst.stdout.match(/"id":"t-\d"/g)?.toSorted()).toEqual(['"id":"t-1"', '"id":"t-2"']);
  const unknown = await runWords(cwd, [...words, `${url}#3`], given);
  expect(unknown).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("There is no run 3 in this database."),
  });
  const fromFile = await runWords(cwd, [...words, "tickets.evaluator.sqlite"]);
  await run(cwd, ["tickets.csv"]);
  expect(fromFile.stderr).toContain("tickets.evaluator.sqlite");
  expect((await runWords(cwd, [...words, "tickets.evaluator.sqlite"])).stdout).toBe(picked.stdout);
});
