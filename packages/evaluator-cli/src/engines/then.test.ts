import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { questionHash } from "evaluator-calibration";
import type { EmulatorOptions } from "evaluator-emulator";
import { readAnswers } from "evaluator-runs";
import { expect, test } from "vitest";
import { startEmulator } from "../testing/engines.ts";
import { run as runWords } from "../testing/run.ts";
import { folderOf, tickets } from "../testing/tickets.ts";

const table = ["run", "tickets.csv", "--questions", "q.json"];

/** Two engines; the first is sure of the ticket about money alone, and the second of all others. */
async function twoEngines(second: EmulatorOptions = {}) {
  const rules = [{ match: "money", answers: { refund: 0.99 } }, { answers: { refund: 0.6 } }];
  const one = await startEmulator({ rules });
  const other = await startEmulator({ rules: [{ answers: { refund: 0.05 } }], ...second });
  const cwd = await folderOf({ "tickets.csv": tickets });
  const engine = ["--engine", `gateway=${one.gatewayBaseUrl}`];
  const words = [...engine, "--then", `openai=${other.origin}`];
  const env = { OPENAI_API_KEY: "any" };
  const run = (typed: readonly string[], from = env) => runWords(cwd, typed, { env: from });
  const asked = async () => {
    const [first, again] = [await one.paths(), await other.paths()];
    const calls = (paths: readonly string[]) => paths.filter((path) => path !== "/v1/models");
    return [calls(first).length, calls(again).length];
  };
  return { cwd, run, words, engine, asked };
}

test("a run asks the second engine about the unsure answers alone, and a second run asks nothing", async () => {
  const { run, words, asked, cwd } = await twoEngines();
  const all = [...table, ...words, "--unsure", "0.8"];
  const first = await run(all);
  expect(first.exitCode).toBe(0);
  expect(first.stderr).toMatch(
    /^Engine: typesafe-ai\/jev through gateway \S+, then openai \S+\/v1\/decisions gpt-6-luna if refund below 0\.8\.\n/,
  );
  expect(first.stderr).toMatch(
    /To ask again if unsure: up to \$\S+ more \(\$0\.10 a million tokens/,
  );
  expect(first.stderr).toMatch(
    /Step 1, gateway typesafe-ai\/jev: asked about 3 records, gave 1 answer, \$0\.\d+\.\nStep 2, openai gpt-6-luna: asked about 2 records, gave 2 answers, \$0\.\d+\.\n/,
  );
  expect(await asked()).toEqual([3, 2]);
  const exported = await run(["export", "--format", "csv"]);
  expect(exported.stdout).toBe("id,refund\nt-1,0.99\nt-2,0.05\nt-3,0.05\n");
  const again = await run(all);
  expect(again.stderr).toContain("3 answered already");
  expect(await asked()).toEqual([3, 2]);
  const entries = [...readAnswers(join(cwd, "tickets.evaluator.sqlite"))];
  const entry = entries.find(({ id }) => id === "t-2");
  expect(entry?.evaluation).toMatchObject({
    route: { refund: { step: 2, transport: "openai", failure: null } },
    steps: [{ answers: { refund: { probability: 0.6 } } }, { headers: {} }],
  });
  expect(JSON.stringify(entry)).not.toContain('"raw"');
});

test("answers of other bounds or without the second engine are not those of the run", async () => {
  const { run, words, engine, asked } = await twoEngines();
  await run([...table, ...words, "--unsure", "0.8"]);
  await run([...table, ...words, "--unsure", "0.2..0.8"]);
  expect(await asked()).toEqual([6, 4]);
  await run([...table, ...words, "--unsure", "refund=0.5"]);
  await run([...table, ...engine]);
  expect(await asked()).toEqual([12, 4]);
});

test("work goes on with the same words, and refuses others", async () => {
  const { run, words, engine, asked } = await twoEngines();
  await run([...table, ...words, "--unsure", "0.8", "--limit", "1"]);
  const other = await run(["work", ...engine]);
  expect(other).toMatchObject({ exitCode: 1 });
  expect(other.stderr).toContain("The run asks typesafe-ai/jev through gateway");
  expect((await run(["work", ...words, "--unsure", "0.8"])).exitCode).toBe(0);
  expect(await asked()).toEqual([1, 0]);
});

test.each([
  ["no bound", [], "--then needs --unsure BOUND"],
  ["a wrong bound", ["--unsure", "0,8"], '--unsure "0,8" is no bound. Use 0.8'],
  ["a falling span", ["--unsure", "0.8..0.2"], "is no bound"],
  ["another question", ["--unsure", "scam=0.8"], "names no question that is asked"],
  [
    "a wrong bound of the second",
    ["--unsure", "0.8", "--then-unsure", "2"],
    '--then-unsure "2" is',
  ],
  ["two bounds", ["--unsure", "0.8", "--unsure", "0.9"], "is a second bound of refund"],
  ["a database", ["--unsure", "0.8", "--journal", "postgres://a@b/c"], "needs a journal in a file"],
  ["the emulator", ["--unsure", "0.8", "--offline"], "cannot be used with option '--then"],
])("%s is refused before anything is sent", async (_, more, problem) => {
  const { run, words, asked } = await twoEngines();
  const typed = [...table, ...(more.includes("--offline") ? words.slice(2) : words), ...more];
  const refused = await run(typed);
  expect(refused).toMatchObject({ exitCode: 1 });
  expect(refused.stderr).toContain(problem);
  expect(await asked()).toEqual([0, 0]);
});

test.each(["--unsure", "--then-unsure"])("%s without --then is refused", async (option) => {
  const { run, engine } = await twoEngines();
  expect((await run([...table, ...engine, option, "0.8"])).stderr).toContain(
    `${option} belongs to --then ENGINE`,
  );
});

test("a second engine that fails leaves the first answer with its mark", async () => {
  const faults = [{ kind: "status", status: 400 }] as const;
  const { run, words, asked, cwd } = await twoEngines({ faults });
  const ended = await run([...table, ...words, "--unsure", "0.8"]);
  expect(ended.exitCode).toBe(0);
  expect(ended.stderr).toMatch(
    /it failed for 2 records, which keep the answers before \(last: StatusError: .*400/,
  );
  const entries = [...readAnswers(join(cwd, "tickets.evaluator.sqlite"))];
  expect(entries.map(({ evaluation }) => evaluation.route?.["refund"]?.failure ?? null)).toEqual([
    null,
    expect.stringContaining("400"),
    expect.stringContaining("400"),
  ]);
  expect(await asked()).toEqual([3, 2]);
});

test("a second engine that can answer nothing ends the run, and a later run asks it", async () => {
  const faults = [{ kind: "status", status: 401, next: 1 }] as const;
  const { run, words } = await twoEngines({ faults });
  const all = [...table, ...words, "--unsure", "0.8", "--concurrency", "1"];
  const ended = await run(all);
  expect(ended).toMatchObject({ exitCode: 1 });
  expect(ended.stderr).toContain("1 of 3 answers are kept");
  const later = await run(all);
  expect(later.exitCode).toBe(0);
  expect(later.stderr).toMatch(/Step 2, openai gpt-6-luna: asked about 2 records/);
});

test("calibrate reports how much each engine answered, cost and got wrong", async () => {
  const { run, words, cwd } = await twoEngines();
  await run([...table, ...words, "--unsure", "0.8"]);
  const labels = ["t-1,yes", "t-2,no", "t-3,yes"].map((line) => `${line},refund\n`).join("");
  await writeFile(join(cwd, "labels.csv"), `id,truth,question\n${labels}`);
  const reported = await run(["calibrate", "labels.csv", "--answers", "tickets.evaluator.sqlite"]);
  const [one, two, cost] = reported.stdout
    .split("\n")
    .filter((line) => /^refund, step|^Cost/.test(line));
  expect(one).toMatch(
    /step 1 \(.+\): asked about 3, answered 1; 0 of 1 labelled answers are wrong/,
  );
  expect(two).toMatch(
    /step 2 \(.+\): asked about 2, answered 2; 1 of 2 labelled answers are wrong/,
  );
  expect(cost).toMatch(
    /^Cost of step 1: \$0\.\d+ for 3 records; step 2: \$0\.\d+ for 2 records\.$/,
  );
});

test("ask names who answered each question", async () => {
  const { run, words, cwd } = await twoEngines();
  await writeFile(join(cwd, "mail.txt"), "The app crashes");
  const typed = ["ask", "--state", "mail.txt", "--questions", "q.json", ...words];
  const asked = await run([...typed, "--unsure", "0.2..0.8"]);
  expect(asked.stdout).toMatch(
    /^refund {2}yes 0\.05, by \S+\nby \S+ \(gateway\), then \S+ \(openai\) in /,
  );
  const sure = await run([...typed, "--unsure", "0.55"]);
  expect(sure.stdout).toContain("refund  yes 0.60");
  const json = await run([...typed, "--unsure", "0.8", "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({ route: { refund: { step: 2 } }, modelId: /./ });
});

const engines = {
  first: { id: "local/rules-1", wire: null },
  // Both emulators name one model.
  second: { id: "local/rules-1", wire: "openai (step 2)" },
};

/** Returns a made-up promise for the questions of the run in a folder. */
function promiseOf(cwd: string, { model = engines.first, action = "yes", threshold = 0.9 }) {
  const [entry] = readAnswers(join(cwd, "tickets.evaluator.sqlite"));
  const promise = { maxRisk: 0.05, confidence: 0.95, n: 92, wrong: 0 };
  return {
    version: 2,
    kind: "none",
    parameters: {},
    model,
    questionHash: questionHash(entry?.questions ?? {}),
    rounding: { probabilityDecimals: 2 },
    fittedOn: { n: 100, from: null, to: null, hash: "" },
    heldOut: null,
    thresholds: [{ question: "refund", action, threshold, ...promise }],
  };
}

test("act takes the promise of each engine on its own answers alone", async () => {
  const { run, words, cwd } = await twoEngines();
  await run([...table, ...words, "--unsure", "0.8"]);
  const write = async (name: string, given: Parameters<typeof promiseOf>[1]) =>
    await writeFile(join(cwd, name), JSON.stringify(promiseOf(cwd, given)));
  await write("first.json", {});
  await write("second.json", { model: engines.second, action: "no" });
  await write("no.json", { action: "no", threshold: 0.51 });
  const act = async (...files: string[]) =>
    await run(["act", "tickets.csv", ...files.flatMap((file) => ["--artifact", file])]);
  const [one, other] = [await act("first.json"), await act("second.json")];
  expect(one.stderr).toBe("acts on 1 of 3: refund yes 1; 2 for a person\n");
  expect(other.stderr).toBe("acts on 2 of 3: refund no 2; 1 for a person\n");
  const both = await act("first.json", "second.json");
  expect(both.stderr).toBe("acts on 3 of 3: refund no 2, refund yes 1; 0 for a person\n");
  const lines = both.stdout.trim().split("\n");
  const acts = lines.map((line) => JSON.parse(line) as { evidence: { artifact: string } });
  expect(new Set(acts.map(({ evidence }) => evidence.artifact)).size).toBe(2);
  // The answers of the second engine are below 0.5, but the promise is the first one's.
  expect((await act("no.json")).stderr).toBe("acts on 0 of 3: 3 for a person\n");
  await write("third.json", { model: { id: "another", wire: null } });
  const refused = await act("first.json", "third.json");
  expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
  expect(refused.stderr).toContain("The calibration was made for another");
});

test("the promise of a calibration is the bound of the first engine", async () => {
  const { run, words, cwd, asked } = await twoEngines();
  await run([...table, ...words, "--unsure", "0.8"]);
  await writeFile(join(cwd, "calibration.json"), JSON.stringify(promiseOf(cwd, {})));
  const promised = [...table, ...words, "--calibration", "calibration.json"];
  const ended = await run(promised);
  expect(ended.stderr).toMatch(/if refund without the promise [0-9a-f]{16}\.\n/);
  expect(ended.exitCode).toBe(0);
  expect(await asked()).toEqual([6, 4]);
  const other = { ...promiseOf(cwd, {}), questionHash: "other" };
  await writeFile(join(cwd, "other.json"), JSON.stringify(other));
  const refused = await run([...table, ...words, "--unsure", "other.json"]);
  expect(refused.stderr).toContain("was made for other questions");
});

test.each([
  ["0.9", " (2 unsure)", false],
  ["0.8", "", true],
  ["refund=second.json", " (2 unsure)", false],
])("the second engine has its own bound %s", async (bound, count, isSure) => {
  const second = { rules: [{ answers: { refund: 0.15 } }] };
  const { run, words, cwd, asked } = await twoEngines(second);
  await run([...table, ...words, "--unsure", "0.8"]);
  const promised = promiseOf(cwd, { model: engines.second, action: "no" });
  await writeFile(join(cwd, "second.json"), JSON.stringify(promised));
  const ended = await run([...table, ...words, "--unsure", "0.8", "--then-unsure", bound]);
  expect(ended.stderr).toContain(`about 2 records, gave 2 answers${count}, $`);
  expect(ended.stderr).toMatch(/if refund below 0\.8; its own answers are unsure if refund .+\.\n/);
  expect(await asked()).toEqual([6, 4]);
  const entries = [...readAnswers(join(cwd, "tickets.evaluator.sqlite"))];
  const marks = entries.map(({ evaluation }) => evaluation.route?.["refund"]?.isSure);
  expect(marks).toEqual([true, isSure, isSure]);
  await writeFile(join(cwd, "mail.txt"), "The app crashes");
  const typed = ["ask", "--state", "mail.txt", "--questions", "q.json", ...words];
  const { stdout } = await run([...typed, "--unsure", "0.8", "--then-unsure", bound]);
  expect(stdout.split("\n", 1)[0]?.endsWith(", unsure")).toBe(!isSure);
});

test("a promise reports two engines of one model apart", async () => {
  const { run, words, cwd } = await twoEngines();
  await run([...table, ...words, "--unsure", "0.8"]);
  const labels = ["t-1,yes", "t-2,no", "t-3,yes"].map((line) => `${line},refund\n`).join("");
  await writeFile(join(cwd, "labels.csv"), `id,truth,question\n${labels}`);
  const typed = ["calibrate", "labels.csv", "--answers", "tickets.evaluator.sqlite", "--json"];
  const { reports } = JSON.parse((await run(typed)).stdout) as {
    reports: { source: { modelId: string; wire: string }; n: number }[];
  };
  expect(reports.map(({ source, n }) => [source.modelId, source.wire.split(" ")[0], n])).toEqual([
    ["local/rules-1", "gateway", 3],
    ["local/rules-1", "openai", 2],
  ]);
  expect(reports[1]?.source.wire).toBe("openai (step 2)");
});
