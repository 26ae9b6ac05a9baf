import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { openSharedPage, problemsOn } from "evaluator-kit/browser";
import { expect, onTestFinished, test } from "vitest";
import { asked, folderOf, plain, readComparison, texts } from "../testing/comparison.ts";
import { startEmulator } from "../testing/engines.ts";
import { run } from "../testing/run.ts";

test("two engines stand side by side, and the same command again asks for nothing", async () => {
  const { gatewayBaseUrl, origin, paths } = await startEmulator({ engine: "vllm" });
  const cwd = await folderOf(40);
  const engines = [`gateway=${gatewayBaseUrl}`, `logprobs=${origin}@local/lexical-1`];
  const words = [...plain, ...engines.flatMap((engine) => ["--engine", engine])];
  const { exitCode, stdout, stderr } = await run(cwd, words);
  expect(stderr).toContain(`${engines[0]}: 40 answered, 0 answered already, 0 failed.`);
  expect(exitCode).toBe(0);
  const pairLine =
    "Their mistakes cannot be compared on 40 labels (0 and 0 wrong, 0 by both); no act of either is promised";
  expect(stdout).toContain(pairLine);
  const comparison = await readComparison(cwd);
  expect(comparison.engines).toMatchObject([
    { name: engines[0], answered: 40, failed: 0, costPer1000Usd: expect.any(Number) as number },
    { name: engines[1], answered: 40, failed: 0, costPer1000Usd: null },
  ]);
  const [scam, kind] = comparison.questions;
  expect(scam?.engines[0]?.report?.n).toBe(40);
  // Two engines with two acts each share the level: 86 labels without an error, not 59.
  expect(scam?.engines[0]?.report?.needed.forPromiseWithoutErrors).toBe(86);
  expect(scam?.engines[1]).toMatchObject({ flips: 0, difference: { n: 40, pValue: 1 } });
  expect(kind?.engines[0]?.report).toBeNull();

  const before = await paths();
  const again = await run(cwd, words);
  expect(again.stderr).toContain(`${engines[1]}: 0 answered, 40 answered already, 0 failed.`);
  expect(await paths()).toEqual(before);
  expect(again.stdout).toBe(stdout);
});

test("a page of a person in the folder is refused before any engine is asked", async () => {
  const { gatewayBaseUrl, origin, paths } = await startEmulator({ engine: "vllm" });
  const cwd = await folderOf(4);
  await mkdir(join(cwd, "comparison"));
  const path = join(cwd, "comparison", "report.json");
  await writeFile(path, "{}");
  const engines = ["--engine", `gateway=${gatewayBaseUrl}`, "--engine", `logprobs=${origin}@m`];
  const { exitCode, stderr } = await run(cwd, [...plain, ...engines]);
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining("this command did not write it")]);
  expect([await readFile(path, "utf8"), await paths()]).toEqual(["{}", []]);
});

test("without labels nothing is said about mistakes, and a line says so", async () => {
  const one = await startEmulator();
  const other = await startEmulator();
  const cwd = await folderOf(8);
  const states = texts.map((subject, index) => ({ id: `s${index}`, state: subject }));
  await writeFile(join(cwd, "states.json"), JSON.stringify(states));
  const words = ["compare", "--states", "states.json", "--questions", "questions.json"];
  const urls = [one.gatewayBaseUrl, other.gatewayBaseUrl];
  const engines = urls.flatMap((url) => ["--engine", `gateway=${url}`]);
  const { exitCode, stdout } = await run(cwd, [...words, ...engines]);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^Without labels mistakes are unknown; label some records/);
  const { questions } = await readComparison(cwd);
  expect(questions[0]?.engines.map(({ report }) => report)).toEqual([null, null]);
  expect(questions[0]?.pairs).toEqual([]);
});

test("as good as the first is said by the margin alone", async () => {
  const { gatewayBaseUrl } = await startEmulator();
  const wrong = { match: "lottery", answers: { scam: 0.02 } };
  const worse = await startEmulator({ rules: [wrong, { answers: { scam: 0.98 } }] });
  const cwd = await folderOf(60);
  const words = (url: string) => {
    const engines = [
      "--engine",
      `gateway=${gatewayBaseUrl}`,
      "--engine",
      `gateway=${url}@typesafe-ai/jev`,
    ];
    return [...plain, ...engines, "--margin", "0.02"];
  };
  const same = await run(cwd, words(gatewayBaseUrl));
  expect(same.stdout).toContain("as good as the first within 0.02");
  const bad = await run(cwd, words(worse.gatewayBaseUrl));
  expect(bad.stdout).toContain("worse than the first by more than 0.02");
  expect(bad.exitCode).toBe(1);
  const few = await run(await folderOf(8), words(gatewayBaseUrl));
  expect(few.stdout).toContain("not shown to be as good");
  expect(few.exitCode).toBe(3);
});

test("all engines of a call are judged at one level", async () => {
  const rules = [{ answers: { scam: 0.4 } }];
  const [one, two, three] = [
    await startEmulator(),
    await startEmulator({ rules }),
    await startEmulator({ rules }),
  ];
  const cwd = await folderOf(60);
  await writeFile(join(cwd, "questions.json"), JSON.stringify({ scam: asked.scam }));
  const widthWith = async (...emulators: (typeof one)[]) => {
    const urls = emulators.map(({ gatewayBaseUrl }) => `gateway=${gatewayBaseUrl}`);
    await run(cwd, [...plain, ...urls.flatMap((url) => ["--engine", url])]);
    const difference = (await readComparison(cwd)).questions[0]?.engines[1]?.difference;
    return (difference?.brierDifference.high ?? 0) - (difference?.brierDifference.low ?? 0);
  };
  const alone = await widthWith(one, two);
  expect(await widthWith(one, two, three)).toBeGreaterThan(1.1 * alone);
});

test("a column of the labels or the states whose values repeat is named", async () => {
  const { gatewayBaseUrl, directBaseUrl } = await startEmulator();
  const cwd = await folderOf(60);
  const engines = ["--engine", `gateway=${gatewayBaseUrl}`, "--engine", `direct=${directBaseUrl}`];
  expect((await run(cwd, [...plain, ...engines])).stdout).not.toContain("may not be independent");
  const labels = (await readFile(join(cwd, "labels.ndjson"), "utf8")).trim().split("\n");
  const inThreads = labels.map((line, at) =>
    line
      .replace("{", `{"thread":"t${at % 20}",`)
      .replace('"state":{', `"state":{"sender":"s${at % 15}",`),
  );
  await writeFile(join(cwd, "labels.ndjson"), inThreads.join("\n"));
  const { stdout } = await run(cwd, [...plain, ...engines]);
  expect(stdout).toContain('60 labels come from 20 values of "thread"; labels of one may not');
  expect(stdout).toContain('60 labels come from 15 values of "sender"; labels of one may not');
});

test("labels that are no random draw of the answered records judge no engine", async () => {
  const rules = [{ match: "lottery", answers: { scam: 0.98 } }, { answers: { scam: 0.02 } }];
  const [one, other] = [await startEmulator({ rules }), await startEmulator({ rules })];
  const cwd = await folderOf(240);
  const labels = (await readFile(join(cwd, "labels.ndjson"), "utf8")).trim().split("\n");
  const states = labels.map((line) => JSON.parse(line) as { id: string; state: unknown });
  await writeFile(join(cwd, "states.json"), JSON.stringify(states));
  await writeFile(join(cwd, "questions.json"), JSON.stringify({ scam: asked.scam }));
  const urls = [one.gatewayBaseUrl, `${other.gatewayBaseUrl}@typesafe-ai/jev`];
  const engines = urls.flatMap((url) => ["--engine", `gateway=${url}`]);
  const words = [...plain, "--states", "states.json", ...engines, "--margin", "0.02"];
  const isLottery = (line: string) => line.includes("lottery");
  const drawn = labels.filter((line) => !isLottery(line)).slice(0, 60);
  await writeFile(join(cwd, "labels.ndjson"), drawn.join("\n"));
  const unfair = await run(cwd, words);
  expect(unfair.stdout).toContain("the labels are no random draw, so they");
  expect(unfair.exitCode).toBe(3);
  await writeFile(join(cwd, "labels.ndjson"), labels.slice(0, 80).join("\n"));
  const fair = await run(cwd, words);
  expect(fair.stdout).toContain("as good as the first within 0.02");
  expect(fair.exitCode).toBe(0);
});

test("with --calibrated the fit and the comparison have different labels", async () => {
  const { gatewayBaseUrl, directBaseUrl } = await startEmulator();
  const engines = ["--engine", `gateway=${gatewayBaseUrl}`, "--engine", `direct=${directBaseUrl}`];
  const few = await run(await folderOf(20), [...plain, ...engines, "--calibrated"]);
  expect(few.exitCode).toBe(3);
  expect(few.stderr).toContain("takes 100 labels; you have ");
  const cwd = await folderOf(220);
  const questions = { scam: asked.scam };
  await writeFile(join(cwd, "questions.json"), JSON.stringify(questions));
  expect(await run(cwd, [...plain, ...engines, "--calibrated"])).toMatchObject({ exitCode: 0 });
  const { isCalibrated, questions: compared } = await readComparison(cwd);
  expect(isCalibrated).toBe(true);
  const n = compared[0]?.engines[0]?.report?.n ?? 0;
  expect(n).toBeGreaterThan(90);
  expect(n).toBeLessThan(130);
});

test.each([
  [["--engine", "gateway"], 1, "Give --engine twice or more"],
  [["--engine", "direct", "--engine", "direct"], 1, "is given twice"],
  [["--engine", "gateway=http://127.0.0.1:1", "--engine", "smoke"], 1, "an engine is one of"],
])("the words %j end with %i: %s", async (words, expected, message) => {
  const { exitCode, stderr } = await run(await folderOf(4), [...plain, ...words]);
  expect(stderr).toContain(message);
  expect(exitCode).toBe(expected);
});

test("bad input names file, line and what would be right, before anything is asked", async () => {
  const { gatewayBaseUrl, directBaseUrl, paths } = await startEmulator();
  const engines = ["--engine", `gateway=${gatewayBaseUrl}`, "--engine", `direct=${directBaseUrl}`];
  const cwd = await folderOf(4);
  await writeFile(join(cwd, "states.ndjson"), '{"id":"a","state":"x"}\n{"state":"y"}\n');
  const noId = await run(cwd, [...plain, "--states", "states.ndjson", ...engines]);
  expect(noId.stderr).toContain("states.ndjson line 2: has no id");
  await writeFile(join(cwd, "bare.ndjson"), '{"id":"m0","question":"scam","truth":true}\n');
  const bare = await run(cwd, [
    "compare",
    "bare.ndjson",
    "--questions",
    "questions.json",
    ...engines,
  ]);
  expect(bare.stderr).toContain("hold no state; name the records with --states");
  const none = await run(cwd, ["compare", "labels.ndjson", ...engines]);
  expect(none.stderr).toContain("name a file with --questions");
  const ends = [noId, bare, none];
  for (const [label, problem] of [
    [{ truth: true }, 'has no question; add one of "scam", "kind" to each label'],
    [{ question: "kind", truth: "invoice" }, 'truth of "kind" is "invoice"'],
  ] as const) {
    await writeFile(join(cwd, "labels.ndjson"), JSON.stringify({ id: "m0", state: "x", ...label }));
    const wrong = await run(cwd, [...plain, ...engines]);
    expect(wrong.stderr).toContain(`labels.ndjson line 1: ${problem}`);
    expect(wrong.stderr).toMatch(/[^.]\.\n$/);
    ends.push(wrong);
  }
  expect(ends.map(({ exitCode }) => exitCode)).toEqual([1, 1, 1, 1, 1]);
  await expect(readComparison(cwd)).rejects.toThrow("no such file");
  expect(await paths()).toEqual([]);
});

test("nothing is wrong with the page in any look, and it runs nothing", async () => {
  const { gatewayBaseUrl, directBaseUrl } = await startEmulator();
  const cwd = await folderOf(40);
  const engines = ["--engine", `gateway=${gatewayBaseUrl}`, "--engine", `direct=${directBaseUrl}`];
  await run(cwd, [...plain, ...engines]);
  const url = pathToFileURL(join(cwd, "comparison", "report.html")).href;
  expect(await readFile(new URL(url), "utf8")).not.toMatch(
    /<script|<img|<link (?!rel="icon" href="data:)/,
  );
  const page = await openSharedPage();
  onTestFinished(() => page.close());
  await page.goto(url);
  expect(await problemsOn(page)).toEqual([]);
  expect(await page.getByRole("img").count()).toBe(4);
});
