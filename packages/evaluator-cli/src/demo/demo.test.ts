import { openSharedPage, problemsOn } from "evaluator-kit/browser";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { InterruptedError } from "evaluator-kit";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, onTestFinished, test } from "vitest";
import { run } from "../testing/run.ts";

const allFiles = [
  "acts.ndjson",
  "after.ndjson",
  "before.ndjson",
  "calibration.json",
  "demo.json",
  "labels.ndjson",
  "questions.json",
  "records.csv",
  "truth.ndjson",
];

async function linesOf<TLine>(folder: string, name: string): Promise<TLine[]> {
  const text = await readFile(join(folder, name), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as TLine);
}

test("of 12 demos at least 10 end with a promise, and their acts keep it against the truth", async () => {
  const cwd = await temporaryFolder();
  const shares: number[] = [];
  for (let seed = 1; seed <= 12; seed += 1) {
    const out = `demo-${seed}`;
    const { exitCode, stdout } = await run(
      cwd,
      `demo --auto --seed ${seed} --out ${out}`.split(" "),
    );
    if (exitCode === 3) continue;
    expect({ exitCode, stdout }).toMatchObject({ exitCode: 0 });
    expect(stdout).toMatch(
      /^3 promise {2}act on "yes" at 0\.\d\d and above: at most 5 % wrong, with 95 % confidence$/m,
    );
    expect(stdout).toMatch(/^ +drift: broken: act on "yes" at 0\.\d\d: \d+ of \d+ wrong$/m);
    type Truth = { readonly id: string; readonly truth: boolean };
    const truths = await linesOf<Truth>(join(cwd, out), "truth.ndjson");
    const wanted = new Map(truths.map(({ id, truth }) => [id, truth]));
    const acts = await linesOf<{ id: string; act: string | null }>(join(cwd, out), "acts.ndjson");
    expect(acts.map(({ id }) => id)).toEqual([...wanted.keys()]);
    const taken = acts.filter(({ act }) => act === "yes");
    expect(stdout).toContain(
      `4 act      ${taken.length} of 400 acted on, ${400 - taken.length} left`,
    );
    shares.push(taken.filter(({ id }) => wanted.get(id) === false).length / taken.length);
  }
  expect(shares.length).toBeGreaterThanOrEqual(10);
  // 95 % confidence: of 12 promises one may be broken.
  expect(shares.filter((share) => share > 0.05).length).toBeLessThanOrEqual(1);
}, 120_000);

test("the other commands take its files, and refuse the other release by both names", async () => {
  const cwd = await temporaryFolder();
  const { stdout } = await run(cwd, ["demo", "--auto", "--seed", "2"]);
  expect(stdout).toMatch(
    /^Demo: a simulated model answers 400 invented tickets\. Nothing leaves this machine/,
  );
  expect(stdout).toContain("1 run      400 of 400 answered by simulated/agent-1\n");
  expect(stdout).toContain("2 label    200 labels: 0 by hand, 200 by the simulation\n");
  expect(stdout).toContain(
    "5 release  simulated/agent-2 answers the same records; refused: the thresholds were learnt from simulated/agent-1\n",
  );
  for (const name of ["run", "label", "calibrate", "act", "drift"])
    expect(stdout).toContain(`your files: npx evaluator-cli ${name} `);
  const folder = join(cwd, "evaluator-demo");
  expect((await readdir(folder)).toSorted()).toEqual(allFiles);
  const type = async (words: string) => await run(folder, words.split(" "));
  const act = await type("act before.ndjson --artifact calibration.json");
  expect(act.stdout).toBe(await readFile(join(folder, "acts.ndjson"), "utf8"));
  const other = await type("act after.ndjson --artifact calibration.json");
  expect({ ...other, stderr: "" }).toEqual({ exitCode: 1, stdout: "", stderr: "" });
  expect(other.stderr).toContain("made for simulated/agent-1, and simulated/agent-2 answered");
  const drift = await type(
    "drift --before before.ndjson --after after.ndjson --labels labels.ndjson --calibration calibration.json",
  );
  expect(drift.exitCode).toBe(1);
  for (const words of [
    "check calibration.json --labels truth.ndjson --answers before.ndjson",
    "calibrate labels.ndjson --answers before.ndjson --action refund=yes --require 5%",
    "audit acts.ndjson --labels truth.ndjson",
    "pick --acts acts.ndjson --budget 10",
    "run records.csv --questions questions.json --offline",
  ]) {
    const { exitCode, stderr } = await type(words);
    expect({ words, exitCode, stderr }).toMatchObject({ exitCode: 0 });
  }
}, 60_000);

test("on a terminal it ends with what comes next, also without the page", async () => {
  const cwd = await temporaryFolder();
  const stdout = { write: () => true, isTTY: true };
  const { stderr } = await run(cwd, ["demo", "--auto"], { stdout });
  expect(stderr).toMatch(
    /^The files of the demo are in evaluator-demo\. For your tickets, see the commands /m,
  );
}, 60_000);

test("a model that knows nothing gets no promise, and a second demo replaces the first", async () => {
  const cwd = await temporaryFolder();
  const words = ["demo", "--auto", "--out", "d"];
  expect(await run(cwd, words)).toMatchObject({ exitCode: 0 });
  const { exitCode, stdout } = await run(cwd, [...words, "--skill", "0"]);
  expect(exitCode).toBe(3);
  expect(stdout).toContain("no threshold can be promised\n");
  expect(stdout).not.toContain("4 act");
  expect(await readdir(join(cwd, "d"))).not.toContain("acts.ndjson");
}, 60_000);

test("labels by hand stay: the same demo takes them, and another one is refused", async () => {
  const cwd = await temporaryFolder();
  const words = ["demo", "--auto", "--out", "d"];
  await run(cwd, words);
  const path = join(cwd, "d", "labels.ndjson");
  const [first = "", ...others] = (await readFile(path, "utf8")).split("\n");
  const own = first.replace("the simulation", "you");
  await writeFile(path, [own, ...others].join("\n"));
  const { stdout } = await run(cwd, words);
  expect(stdout).toContain("2 label    200 labels: 1 by hand, 199 by the simulation\n");
  expect(await run(cwd, [...words, "--seed", "5"])).toMatchObject({
    exitCode: 1,
    stderr: "d has 1 label by hand of another demo. Choose another --out.\n",
  });
  expect(await readFile(path, "utf8")).toContain(own);
}, 60_000);

test("an empty folder, which a demo leaves on a full disk, does not stop the next one", async () => {
  const cwd = await temporaryFolder();
  await mkdir(join(cwd, "d"));
  expect((await run(cwd, ["demo", "--out", "d", "--auto", "--count", "1"])).exitCode).toBe(3);
  await writeFile(join(cwd, "file"), "");
  expect((await run(cwd, ["demo", "--out", "file"])).stderr).toContain("no demo made it");
}, 60_000);

test.each([
  ["a folder that no demo made", ["--out", "mine"], "mine exists, and no demo made it."],
  ["--auto with --page", ["--auto", "--page"], "cannot be used with option '--auto'"],
  ["a skill above 1", ["--skill", "1.1"], "Use a number from 0 to 1"],
  ["more labels than tickets", ["--count", "401"], "Use a whole number from 1 to 400"],
])("%s ends with 1 and writes nothing", async (_, words, problem) => {
  const cwd = await temporaryFolder();
  await mkdir(join(cwd, "mine"));
  await writeFile(join(cwd, "mine", "records.csv"), "id\n");
  const { exitCode, stderr } = await run(cwd, ["demo", ...words]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining(problem) });
  expect(await readdir(cwd)).toEqual(["mine"]);
  expect(await readdir(join(cwd, "mine"))).toEqual(["records.csv"]);
  expect(await readFile(join(cwd, "mine", "records.csv"), "utf8")).toBe("id\n");
});

async function startPage(...words: string[]) {
  const cwd = await temporaryFolder();
  const interruption = new AbortController();
  const ready = Promise.withResolvers<string>();
  let stdout = "";
  const write = (text: string) => {
    stdout += text;
    if (stdout.includes("\n1 run")) ready.resolve(stdout.split("\n", 1).join(""));
  };
  const { signal } = interruption;
  const ended = run(cwd, ["demo", "--page", ...words], { stdout: { write }, signal });
  const stop = () => interruption.abort(new InterruptedError("SIGINT"));
  onTestFinished(async () => {
    stop();
    await ended;
  });
  const origin = await ready.promise;
  const post = async (path: string, fields: Record<string, string> = {}) => {
    const body = new URLSearchParams(fields);
    return await (await fetch(`${origin}${path}`, { method: "POST", body })).text();
  };
  const output = async () => ({ exitCode: (await ended).exitCode, stdout });
  const errors = async () => (await ended).stderr;
  return { origin, post, output, errors, stop, folder: join(cwd, "evaluator-demo") };
}

test("on the page a person labels ten, the simulation the rest, and a release is refused", async () => {
  const { origin, post, output, errors, folder } = await startPage();
  expect(origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  let screen = await (await fetch(origin)).text();
  for (let labelled = 0; labelled < 10; labelled += 1) {
    expect(screen).toContain("simulated");
    expect(screen).not.toContain("Label the rest");
    for (const key of ["y", "n"]) expect(screen).toContain(`data-key="${key}"`);
    const [, id = ""] = /name="id" value="([^"]+)"/.exec(screen) ?? [];
    const answer = /money back\.|refund\.|paid\.|pay me back|my card/.test(screen) ? "0" : "1";
    screen = await post("/labels", { question: "refund", id, answer });
    expect(await linesOf(folder, "labels.ndjson")).toHaveLength(labelled + 1);
  }
  expect(screen).toContain("Label the rest");
  const screens = [screen];
  screens.push((screen = await post("/end")));
  expect(screen).toContain("simulated");
  expect(screen).toMatch(/<h1>act on &quot;yes&quot; at 0\.\d\d and above/);
  expect(screen).toContain("Ship a release");
  const last = await post("/release");
  screens.push(last);
  expect(last).toContain("simulated/agent-2 answers the same records; refused");
  expect(last).toContain("drift: broken: ");
  expect(await output()).toEqual({
    exitCode: 0,
    stdout: expect.stringContaining("2 label    200 labels: 10 by hand, 190 by the simulation\n"),
  });
  expect(await errors()).toContain(`Open ${origin} in a browser. Label some tickets`);
  expect((await readdir(folder)).toSorted()).toEqual(allFiles);
  const page = await openSharedPage();
  onTestFinished(() => page.close());
  for (const each of screens) {
    await page.setContent(each);
    expect(await problemsOn(page)).toEqual([]);
  }
}, 60_000);

test("without a promise the page ends the program with 3, and a Ctrl-C before with 130", async () => {
  const hopeless = await startPage("--skill", "0");
  const screen = await hopeless.post("/end");
  expect(screen).toContain("no threshold can be promised");
  expect(screen).not.toContain("Ship a release");
  expect((await hopeless.output()).exitCode).toBe(3);
  const left = await startPage();
  const forged = await fetch(left.origin, { headers: { Origin: "https://example.com" } });
  expect(forged.status).toBe(403);
  left.stop();
  expect((await left.output()).exitCode).toBe(130);
}, 60_000);

test("a taken port of the page gives way to the next free one", async () => {
  const { port } = new URL((await startPage()).origin);
  const { origin, stop, errors } = await startPage("--port", port);
  expect(Number(new URL(origin).port)).toBeGreaterThan(Number(port));
  stop();
  expect(await errors()).toContain(
    `Port ${port} on 127.0.0.1 is taken; this is port ${new URL(origin).port}.`,
  );
});
