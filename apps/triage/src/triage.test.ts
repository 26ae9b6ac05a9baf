import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { sampleMail } from "./testing/samples.ts";
import { folderWith, startTriage } from "./testing/start-triage.ts";

const nasty = "a\u001b[2J\u202e\nWrote  b";

test.each([
  [[`${nasty}.json`]],
  [[`${nasty}.txt`]],
  [[`${nasty}.triage.json`]],
  [[`--${nasty}`]],
  [["in.json", "--questions", nasty]],
  [["import", nasty, `${nasty}.json`]],
  [["import", ".", `${nasty}.json`]],
  [["report", `${nasty}.json`]],
  [["explain", nasty, `${nasty}.json`]],
  [["explain", nasty]],
])("no word of %j steers the terminal or forges a line", async (words) => {
  const cwd = join(await temporaryFolder(), nasty);
  await mkdir(cwd);
  const { exitCode, stdout, stderr } = await startTriage(words, { cwd });
  expect(exitCode).toBeLessThan(65);
  expect(`${stdout}${stderr}`.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(stderr).not.toMatch(/^Wrote {2}b/m);
});

test.each([["--help"], ["-h"], ["run", "--help"], ["inbox.json", "--raw", "--help"]])(
  "%s %s prints usage and examples",
  async (...words) => {
    const { exitCode, stdout, stderr } = await startTriage(words, {});
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toContain("Usage: evaluator-triage ");
    expect(stdout).toContain("\nExamples\n  evaluator-triage inbox.json --offline\n");
  },
);

const commands =
  "run work status query export label act import watch report digest serve plan apply undo explain questions".split(
    " ",
  );

test("the help lists all commands in three groups, those of a first day before", async () => {
  const { stdout } = await startTriage(["--help"], {});
  const found = stdout.match(/^[A-Z].*:$/gm);
  expect(found).toEqual(["Options:", "The first day:", "Later:", "Many machines:"]);
  for (const name of commands) expect(stdout).toMatch(new RegExp(`^  ${name}\\b`, "m"));
});

test.each(commands)("%s --help names its words alone, in at most 48 lines", async (name) => {
  const { exitCode, stdout } = await startTriage([name, "--help"], {});
  expect(stdout.trimEnd().split("\n").length).toBeLessThanOrEqual(48);
  expect(await startTriage(["help", name], {})).toMatchObject({ exitCode, stdout });
  expect(exitCode).toBe(0);
  expect(stdout).toContain(`Usage: evaluator-triage ${name} `);
  expect(stdout.includes("--sent-label")).toBe(name === "import");
});

test("--version prints the version of the program", async () => {
  const { exitCode, stdout } = await startTriage(["--version"], {});
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringMatching(/^\d+\.\d+/) });
});

test("run FILE is the same as FILE, with options before and after it", async () => {
  const cwd = await folderWith([sampleMail()]);
  const printed = [
    await startTriage(["inbox.json", "--dry-run"], { cwd }),
    await startTriage(["run", "inbox.json", "--dry-run"], { cwd }),
    await startTriage(["--dry-run", "inbox.json"], { cwd }),
  ];
  expect(printed[0]?.exitCode).toBe(0);
  expect(printed).toEqual([printed[0], printed[0], printed[0]]);
});

test("query takes its file first or last", async () => {
  const cwd = await folderWith([sampleMail()]);
  await startTriage(["inbox.json"], { cwd });
  const text = "select id from mails";
  const first = await startTriage(["query", "inbox.json", text], { cwd });
  expect(first.stdout).toBe("id\nm-1\n");
  expect(await startTriage(["query", text, "inbox.json"], { cwd })).toEqual(first);
  expect(await startTriage(["query", "inbox.triage.sqlite", text], { cwd })).toEqual(first);
  const { stdout } = await startTriage(["query", "inbox.json"], { cwd });
  expect(stdout).toContain("mails,snippet,text\n");
});

test.each([
  [[], "Missing required argument 'file'.", "run"],
  [["export", "--fromat", "csv"], "Unknown option '--fromat' (Did you mean --format?)", "export"],
  [["import", "a.mbox"], "Missing required argument 'out.json'.", "import"],
  [["import", "a.mbox", "out"], "OUT.json must end in .json.", "import"],
  [["import", "a.mbox", "out.ndjson"], "OUT.json must end in .json.", "import"],
  [["import", "a.mbox", "-"], "OUT.json must end in .json.", "import"],
  [
    ["import", "a.mbox", "o.json", "--skipped", "o.json"],
    "--skipped needs its own file.",
    "import",
  ],
  [["a.json", "--today", "2026-11-02"], "--today and --contacts need --context.", "run"],
  [["a.json", "--contacts", "b.csv"], "--today and --contacts need --context.", "run"],
  [["a.json", "--context", "--today", "now"], "Use a day: 2026-11-02.", "run"],
  [["a.json", "--state-fields", "body"], "Use some of attachments, list_id,", "run"],
  [["statsu"], "Unknown command 'statsu' (Did you mean status?)", ""],
  [["digst", "inbox.json"], "Unknown command 'digst' (Did you mean digest?)", ""],
  [["questions", "chekc"], "Unknown command 'chekc' (Did you mean check?)", "questions"],
  [["report", "--run", "0"], "argument '0' is invalid", "report"],
  [["explain"], "Missing required argument 'id'.", "explain"],
  [["status", "postgres://ada:secret@db/x"], "Give a database's URL to --journal", "status"],
])("the words %j mean nothing: %s", async (words, message, name) => {
  const { exitCode, stdout, stderr } = await startTriage(words, { cwd: await temporaryFolder() });
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  expect(stderr).toContain(message);
  expect(stderr).toContain(`\nFor its options: ${`evaluator-triage ${name}`.trim()} --help\n`);
  expect(stderr).not.toContain("secret");
});
