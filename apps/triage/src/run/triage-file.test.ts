import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AuthenticationError } from "evaluator-client";
import { expect, test } from "vitest";
import { triageQuestions } from "../questions/triage-questions.ts";
import { recordingTransport, sampleMail, sampleResponse } from "../testing/samples.ts";
import { folderWith, readResults, startTriage } from "../testing/start-triage.ts";

const threeMails = ["m-1", "m-2", "m-3"].map((id) => sampleMail({ id, subject: `About ${id}` }));

test("writes the contract's fields in input order and prints the table by importance", async () => {
  const cwd = await folderWith(threeMails);
  const transport = recordingTransport((index) => sampleResponse({ importance: index }));
  const { exitCode, stdout } = await startTriage(["inbox.json"], { cwd, transport });
  expect(exitCode).toBe(0);
  expect(await readFile(join(cwd, "inbox.triage.json"), "utf8")).toMatchInlineSnapshot(`
    "[
      {
        "id": "m-1",
        "date": "2026-11-02",
        "from": "Northbank <alerts@northbank.example>",
        "subject": "About m-1",
        "category": "receipt",
        "categoryConf": 0.9,
        "importance": 0,
        "importanceConf": 0.8,
        "brandDeal": 0.03,
        "scam": 0.12
      },
      {
        "id": "m-2",
        "date": "2026-11-02",
        "from": "Northbank <alerts@northbank.example>",
        "subject": "About m-2",
        "category": "receipt",
        "categoryConf": 0.9,
        "importance": 1,
        "importanceConf": 0.8,
        "brandDeal": 0.03,
        "scam": 0.12
      },
      {
        "id": "m-3",
        "date": "2026-11-02",
        "from": "Northbank <alerts@northbank.example>",
        "subject": "About m-3",
        "category": "receipt",
        "categoryConf": 0.9,
        "importance": 2,
        "importanceConf": 0.8,
        "brandDeal": 0.03,
        "scam": 0.12
      }
    ]
    "
  `);
  expect(stdout).toMatchInlineSnapshot(`
    "imp   conf  scam  deal  category  date        from                          subject
    2.00  0.80  0.12  0.03  receipt   2026-11-02  Northbank <alerts@northbank.  About m-3
    1.00  0.80  0.12  0.03  receipt   2026-11-02  Northbank <alerts@northbank.  About m-2
    0.00  0.80  0.12  0.03  receipt   2026-11-02  Northbank <alerts@northbank.  About m-1
    "
  `);
});

test("a missing confidence is null in the file and a dash in the table", async () => {
  const cwd = await folderWith([sampleMail()]);
  const transport = recordingTransport(() => sampleResponse({ confidence: {} }));
  const { stdout } = await startTriage(["inbox.json"], { cwd, transport });
  expect(await readResults(cwd)).toMatchObject([{ categoryConf: null, importanceConf: null }]);
  expect(stdout).toMatch(/^2\.00 {2}- {5}0\.12 /m);
});

test("a mail that fails leaves what it cannot have cost to the next one", async () => {
  const cwd = await folderWith(threeMails);
  const sample = sampleResponse();
  // Dearer than estimated: there is enough for this one and one more.
  const dear = { ...sample, providerMetadata: { gateway: { marketCost: "0.001" } } };
  const transport = recordingTransport((index) => (index === 0 ? { answers: "none" } : dear));
  const words = ["inbox.json", "--price", "1", "--max-cost", "0.012"];
  const { exitCode } = await startTriage(words, { cwd, transport });
  expect(transport.requests).toHaveLength(3);
  expect(exitCode).toBe(2);
});

test("a limit takes that many records from the start", async () => {
  const cwd = await folderWith(threeMails);
  const transport = recordingTransport();
  await startTriage(["inbox.json", "--limit", "2"], { cwd, transport });
  expect(await readResults(cwd)).toMatchObject([{ id: "m-1" }, { id: "m-2" }]);
  expect(transport.requests).toHaveLength(2);
});

test("no records give an empty file and a bare header", async () => {
  const cwd = await folderWith([]);
  const { exitCode, stdout } = await startTriage(["inbox.json"], { cwd });
  expect({ exitCode, lines: stdout.split("\n").length }).toEqual({ exitCode: 0, lines: 2 });
  expect(await readResults(cwd)).toEqual([]);
});

test("raw output is one line for each call, before the table", async () => {
  const cwd = await folderWith(threeMails);
  const { stdout } = await startTriage(["inbox.json", "--raw"], { cwd });
  const { answers, providerMetadata } = sampleResponse();
  const lines = stdout.split("\n");
  expect(lines.slice(0, 3).map((line) => JSON.parse(line))).toEqual(
    threeMails.map(({ id }) => ({ id, answers, providerMetadata })),
  );
  expect(lines[3]).toMatch(/^imp /);
});

test("the questions call the user what TRIAGE_USER_NAME says, else the user", async () => {
  const cwd = await folderWith([sampleMail()]);
  const transport = recordingTransport();
  await startTriage(["inbox.json"], { cwd, transport, env: { TRIAGE_USER_NAME: " Ada " } });
  await startTriage(["inbox.json"], { cwd, transport, env: { TRIAGE_USER_NAME: "" } });
  const asked = transport.requests.map(({ questions }) => questions);
  expect(asked).toEqual([triageQuestions("Ada"), triageQuestions("the user")]);
});

test("one wrong record keeps every record from being sent", async () => {
  const cwd = await folderWith([...threeMails, sampleMail({ id: "m-4", date: "2026-02-30" })]);
  const transport = recordingTransport();
  const outcome = await startTriage(["inbox.json", "--limit", "1"], { cwd, transport });
  expect(outcome).toEqual({
    exitCode: 1,
    stdout: "",
    stderr:
      `${cwd}/inbox.json cannot be used, and nothing was sent:\n` +
      '  record at index 3 (id "m-4"): date is not a day of the calendar; write it as YYYY-MM-DD\n',
  });
  expect(transport.requests).toEqual([]);
});

test("results that could not be written keep every record from being sent", async () => {
  const cwd = await folderWith(threeMails);
  await mkdir(join(cwd, "inbox.triage.json"));
  const transport = recordingTransport();
  const { exitCode, stderr } = await startTriage(["inbox.json"], { cwd, transport });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("inbox.triage.json is in the way");
  expect(transport.requests).toEqual([]);
});

test("a mail without an answer keeps its place, with nulls and the error, and the run ends with 2", async () => {
  const cwd = await folderWith(threeMails);
  const transport = recordingTransport((index) => (index === 1 ? {} : sampleResponse()));
  const { exitCode, stdout, stderr } = await startTriage(["inbox.json"], { cwd, transport });
  expect(exitCode).toBe(2);
  const [first, second, third] = await readResults(cwd);
  expect([first, third]).toMatchObject([{ importance: 2 }, { id: "m-3", importance: 2 }]);
  expect(Object.keys(second ?? {})).toEqual([...Object.keys(first ?? {}), "error"]);
  expect(second).toMatchObject({ id: "m-2", category: null, importanceConf: null, scam: null });
  expect(second?.["error"]).toMatch(/^The response breaks the contract/);
  expect(stderr).toContain(
    'Failed: record at index 1 (id "m-2"): The response breaks the contract',
  );
  expect(stderr).toContain("Wrote 3 of 3 records to ");
  expect(stderr).toContain('; 1 of them has no answer, and says why in "error"\n');
  expect(stdout.split("\n")[3]).toMatch(/^- +- +- +- +- .* About m-2$/);
});

const rejected = {
  status: 401,
  type: null,
  requestId: null,
  generationId: null,
  retryAfterMs: null,
  needsPaidCredits: false,
};

test("a wrong key ends the run at once, and leaves older results as they were", async () => {
  const cwd = await folderWith(threeMails);
  await writeFile(join(cwd, "inbox.triage.json"), '[{"id":"older"}]');
  const transport = recordingTransport((index) => {
    if (index === 0) return sampleResponse();
    throw new AuthenticationError("The key is wrong\u001b[2J.", rejected);
  });
  const { exitCode, stdout, stderr } = await startTriage(["inbox.json", "--concurrency", "1"], {
    cwd,
    transport,
  });
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  expect(stderr).toContain("Stopped: The key is wrong.");
  expect(stderr).toContain("1 of 3 answers are kept");
  expect(await readResults(cwd)).toEqual([{ id: "older" }]);
  expect(transport.requests).toHaveLength(2);
});

test("a mistyped command ends with 1 and shows how it is typed", async () => {
  const outcome = await startTriage(["inbox.json", "--of-line"], {});
  const stderr =
    "Unknown option '--of-line' (Did you mean --offline?)\nFor its options: evaluator-triage run --help\n";
  expect(outcome).toEqual({ exitCode: 1, stdout: "", stderr });
});
