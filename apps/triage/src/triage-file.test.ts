import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { triageQuestions } from "./questions/triage-questions.ts";
import { recordingTransport, sampleMail, sampleResponse } from "./testing/samples.ts";
import { folderWith, startTriage } from "./testing/start-triage.ts";

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
      '  record at index 3, line 1 (id "m-4"): date is not a day of the calendar; write it as YYYY-MM-DD\n',
  });
  expect(transport.requests).toEqual([]);
});
