import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { artifactHash, parseCalibrationArtifact, questionHash } from "evaluator-calibration";
import { expect, test } from "vitest";
import { calibrate, folderWith, readReport, run } from "../testing/run.ts";

test("calibrate prints the join first, then skill beside the constant, and writes page and numbers", async () => {
  const folder = await folderWith(1200, { wrongEvery: 400 });
  const { exitCode, stdout, stderr } = await run(folder, [
    ...calibrate,
    "--require",
    "5%",
    "--by",
    "group",
  ]);
  expect(exitCode).toBe(0);
  const lines = stdout.split("\n");
  expect(lines[0]).toBe("scam: 1,200 labelled, 1,200 joined.");
  expect(lines[2]).toBe("");
  expect(lines[3]).toMatch(/^On your 1,200 labelled records `scam` is worth \d\d % of the way/);
  expect(stdout).toMatch(/\n {2}home \(800\): act on "yes" at 0\.9\d and above, act on "no" at/);
  expect(stdout).not.toContain("ECE");
  expect(stdout).toMatch(/skill +\d+ % \(.*\); always ".*": 0 %/);
  expect(stdout).toMatch(
    /act on "yes" at 0\.9\d and above: at most 5 % wrong, with 95 % confidence/,
  );
  expect(stderr).toContain("Wrote calibration/report.json, calibration/report.html");
  const report = await readReport(folder);
  expect(report.reports).toHaveLength(1);
  expect(report.reports[0]).toMatchObject({ verdict: "useful", n: 1200 });
  expect(report.reports[0]?.groups).toHaveLength(2);
  expect(await readFile(join(folder, "calibration", "report.html"), "utf8")).toContain(
    "<h1>Do the",
  );
  // With --with-text they hold mails.
  for (const name of await readdir(join(folder, "calibration"))) {
    const { mode } = await stat(join(folder, "calibration", name));
    expect([name, mode & 0o777]).toEqual([name, 0o600]);
  }
});

test.each(["report.html", "report.json"])("a %s that is not its own stays", async (name) => {
  const folder = await folderWith(40);
  const path = join(folder, "calibration", name);
  await mkdir(join(folder, "calibration"));
  await writeFile(path, "mine");
  expect(await run(folder, calibrate)).toEqual({
    exitCode: 1,
    stdout: "",
    stderr: `${path} exists, and this command did not write it. Move it, or name another file.\n`,
  });
  expect(await readFile(path, "utf8")).toBe("mine");
  await rm(path);
  for (const _ of [1, 2]) expect(await run(folder, calibrate)).toMatchObject({ exitCode: 0 });
});

test("where no threshold can be promised, --require ends with 3 and says what can be", async () => {
  const folder = await folderWith(400, { wrongEvery: 20 });
  const { exitCode, stdout } = await run(folder, [...calibrate, "--require", "5%", "--on-average"]);
  expect(exitCode).toBe(3);
  expect(stdout).toMatch(
    /act on "no": no threshold can be promised; try label --for-promise scam=no; the smallest risk that can be promised is \d+(\.\d)? % at/,
  );
  // Rounded up: a risk that was refused is never printed as the one that can be promised.
  const risk = (await readReport(folder)).reports[0]?.actions[0]?.smallest?.risk ?? Number.NaN;
  expect(stdout).toContain(`that can be promised is ${Math.floor(1000 * risk + 1) / 10} % at`);
  expect((await run(folder, calibrate)).exitCode).toBe(0);
});

test("worthless answers permit nothing, on the terminal and on the page", async () => {
  const folder = await folderWith(1200, { wrongEvery: 400 });
  const one = Array.from({ length: 1200 }, (_, index) => ({
    id: `r${index}`,
    truth: index % 100 === 1,
  }));
  await writeFile(join(folder, "labels.ndjson"), one.map((row) => JSON.stringify(row)).join("\n"));
  const words = ["--require", "5%", "--on-average", "--cost", "falseAct=1,missedAct=9"];
  const { exitCode, stdout } = await run(folder, [...calibrate, ...words]);
  expect(exitCode).toBe(3);
  const page = await readFile(join(folder, "calibration", "report.html"), "utf8");
  for (const text of [stdout, page]) {
    expect(text).toContain("worthless");
    expect(text).toMatch(
      /lways .*no.* would be wrong in 1\.0\s% \(0\.5\s% to 1\.8\s%\); the answers add nothing/,
    );
    expect(text).not.toMatch(/act on|may act|costs least|on average only/i);
  }
});

test("--action keeps the whole level for one act, and names the acts there are", async () => {
  const folder = await folderWith(1200);
  const { exitCode, stdout } = await run(folder, [...calibrate, "--action", "scam=no"]);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(
    /act on "no" at 0\.\d\d and above: .* confidence; lets \d % of all yes through \(.*\); acts on \d+ % of all no \(/,
  );
  expect(stdout).not.toContain('act on "yes"');
  const text = await readFile(join(folder, "calibration", "calibration.json"), "utf8");
  const { thresholds } = JSON.parse(text) as { thresholds: { level: number }[] };
  expect(thresholds.map(({ level }) => level)).toEqual([expect.closeTo(0.05, 12)]);
  const artifact = artifactHash(parseCalibrationArtifact(text));
  expect(await readReport(folder)).toMatchObject({ artifact });
  const answers = await readFile(join(folder, "answers.ndjson"), "utf8");
  await writeFile(join(folder, "answers.ndjson"), answers + answers.replaceAll('"scam"', '"deal"'));
  const two = [...calibrate, "--action", "scam=no", "--require", "5%"];
  expect(await run(folder, two)).toMatchObject({ exitCode: 0 });
  expect((await readReport(folder)).reports).toHaveLength(1);
  const misfit = await run(folder, [...calibrate, "--action", "scam=top"]);
  expect(misfit.exitCode).toBe(1);
  expect(misfit.stderr).toContain("--action scam=top fits no answer; use scam=yes or scam=no.");
});

test("under 30 labels there are scores only", async () => {
  const folder = await folderWith(20);
  const { exitCode, stdout } = await run(folder, [...calibrate, "--require", "5%"]);
  expect(exitCode).toBe(3);
  expect(stdout).toContain("; fewer than 30 labels show no curve (20).");
});

test("a notice about several questions is printed once", async () => {
  const folder = await folderWith(40, { modelId: "local/lexical-1" });
  for (const name of ["answers.ndjson", "labels.ndjson"]) {
    const rows = (await readFile(join(folder, name), "utf8")).trimEnd().split("\n");
    const both = rows.flatMap((line) =>
      ["scam", "deal"].map((question) => line.replace(/}$/, `,"question":"${question}"}`)),
    );
    await writeFile(join(folder, name), both.join("\n"));
  }
  const { stdout } = await run(folder, calibrate);
  const notices = stdout.slice(0, stdout.indexOf("\n\n")).split("\n");
  expect(notices).toEqual([
    "scam: 40 labelled, 40 joined.",
    "deal: 40 labelled, 40 joined.",
    "These answers come from matching words, not from a model.",
    expect.stringMatching(/^your 40 labels come from 2 groups; /),
    "Recalibrating takes 100 labels; you have 40.",
  ]);
  expect(stdout).not.toMatch(/\n\n(.|\n)*(matching words|Recalibrating)/);
});

test("answers of two models are reported apart, and a line says so", async () => {
  const folder = await folderWith(100);
  await folderWith(60, { modelId: "local/lexical-1", name: "more.ndjson", labels: false }, folder);
  const { exitCode, stdout } = await run(folder, [...calibrate, "more.ndjson"]);
  expect(exitCode).toBe(0);
  expect(stdout).toContain("The answers have 2 sources, never mixed");
  expect(stdout).toContain(
    "local/lexical-1 (matched words): These answers come from matching words",
  );
  const { reports } = await readReport(folder);
  expect(reports.map(({ source, n }) => [source.modelId, n])).toEqual([
    ["maker/judge-7", 100],
    ["local/lexical-1", 60],
  ]);
  await run(folder, [...calibrate, "more.ndjson", "--model", "local/lexical-1"]);
  expect((await readReport(folder)).reports).toHaveLength(1);
});

test.each([
  [
    "labels.ndjson",
    '{"id":"r1","truth":"perhaps"}\n',
    'labels.ndjson line 1: truth of "scam" is "perhaps"; it must be true or false',
  ],
  [
    "labels.ndjson",
    '{"id":"r1","truth":1}\n{"id":"zz","truth":1}\n',
    'labels.ndjson line 2: id "zz" has no answer; use --allow-unknown',
  ],
  [
    "labels.ndjson",
    '{"id":"r1","truth":1}\n{"id":"r1","truth":1}\n',
    'line 2: record "r1" is labelled a second time',
  ],
  [
    "answers.ndjson",
    '{"id":"r1","question":"scam","probability":7}\n',
    'answers.ndjson line 1: probability of "scam" is 7; it must be a number from 0 to 1',
  ],
  [
    "answers.ndjson",
    '{"id":"r1","question":"scam","probability":0.5}\n{"id":',
    "answers.ndjson line 2: is not JSON",
  ],
])("bad input in %s ends with 1, and nothing is written", async (file, text, message) => {
  const folder = await folderWith(40);
  await writeFile(join(folder, file), text);
  const { exitCode, stderr, stdout } = await run(folder, calibrate);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  expect(stderr).toContain(message);
  expect(await readdir(folder)).toEqual(["answers.ndjson", "labels.ndjson"]);
});

test("a file that is missing or a folder that cannot be made is named", async () => {
  const folder = await folderWith(40);
  expect(
    (await run(folder, ["calibrate", "none.csv", "--answers", "answers.ndjson"])).stderr,
  ).toContain("none.csv: no such file");
  const into = await run(folder, [...calibrate, "--out", "labels.ndjson/x"]);
  expect(into.exitCode).toBe(1);
  expect(into.stderr).toContain("Choose another --out.");
});

test("an artifact keeps what was learnt, and the labels it was learnt from", async () => {
  const folder = await folderWith(1200, { wrongEvery: 20 });
  await run(folder, [...calibrate, "--require", "20%"]);
  const artifact = JSON.parse(
    await readFile(join(folder, "calibration", "calibration.json"), "utf8"),
  ) as { heldOut: { before: number; after: number }; fittedOn: { ids: string[] } };
  expect(artifact).toMatchObject({ version: 2, model: { id: "maker/judge-7" }, question: "scam" });
  expect(artifact.heldOut.after).toBeLessThan(artifact.heldOut.before);
  expect(artifact).toMatchObject({
    questionHash: null,
    fittedOn: { n: 1200, skipped: 0, labelers: 1 },
    thresholds: [
      { level: 0.025, method: "fixed" },
      { level: 0.05, method: "fixed" },
    ],
  });
  const { ids } = artifact.fittedOn;
  expect(ids).toEqual(ids.toSorted());
  expect(ids).toHaveLength(1200);
  expect(ids).toContain(createHash("sha256").update("r7").digest("hex").slice(0, 8));
});

test("answers that keep no question hash get one by --questions, and a line says that it is missing", async () => {
  const folder = await folderWith(1200);
  const missing = "no question hash, so programs refuse to apply it";
  expect((await run(folder, calibrate)).stderr).toContain(missing);
  const questions = { scam: { type: "boolean", instructions: "Is it a scam?" } } as const;
  await writeFile(join(folder, "q.json"), JSON.stringify(questions));
  const { stderr } = await run(folder, [...calibrate, "--questions", "q.json"]);
  expect(stderr).not.toContain(missing);
  const text = await readFile(join(folder, "calibration", "calibration.json"), "utf8");
  expect(JSON.parse(text)).toMatchObject({ questionHash: questionHash(questions) });
  await folderWith(1200, { questionHash: "other" }, folder);
  const other = await run(folder, [...calibrate, "--questions", "q.json"]);
  expect(other.exitCode).toBe(1);
  expect(other.stderr).toContain("The answers are to other questions; name their file.");
});

test("--json prints report.json in one line, without the points of plots and the worst rows", async () => {
  const folder = await folderWith(100);
  const { stdout } = await run(folder, [...calibrate, "--json"]);
  const report = await readReport(folder);
  const printed = JSON.parse(stdout) as typeof report;
  expect(report).toMatchObject(printed);
  expect(printed.reports[0]?.scores).toEqual(report.reports[0]?.scores);
  expect(stdout).not.toMatch(/"points"|"riskCoverage"|"worst"|\n./);
  expect(report.reports[0]).toMatchObject({ curve: { points: expect.any(Array) as unknown[] } });
});

test("a report on the same labels after they grew names the cost of looking again", async () => {
  const folder = await folderWith(120);
  expect((await run(folder, calibrate)).stderr).not.toContain("as they grow");
  expect((await run(folder, calibrate)).stderr).not.toContain("as they grow");
  await folderWith(240, {}, folder);
  const second = await run(folder, calibrate);
  expect(second.stderr).toContain("This is report 2 on these growing labels.");
  expect((await run(folder, [...calibrate, "--out", "other"])).stderr).not.toContain(
    "as they grow",
  );
});
