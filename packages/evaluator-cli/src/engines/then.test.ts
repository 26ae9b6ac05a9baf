import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readAnswers } from "evaluator-runs";
import { expect, test } from "vitest";
import { table, twoEngines } from "../testing/two-engines.ts";

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
  ["another question", ["--unsure", "scam=0.8"], 'There is no question "scam"; there'],
  [
    "a wrong bound of the second",
    ["--unsure", "0.8", "--then-unsure", "2"],
    '--then-unsure "2" is',
  ],
  ["two bounds", ["--unsure", "0.8", "--unsure", "0.9"], "is a second bound of refund"],
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
    `${option} needs --then ENGINE`,
  );
});

test("a second engine that fails leaves the first answer with its mark", async () => {
  const faults = [{ kind: "status", status: 400 }] as const;
  const { run, words, asked, cwd } = await twoEngines({ faults });
  const ended = await run([...table, ...words, "--unsure", "0.8"]);
  expect(ended.exitCode).toBe(0);
  expect(ended.stderr).toMatch(
    /it failed for 2 records, which keep their earlier answers \(last: StatusError: .*400/,
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
