import { readFile, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { describeDateGap } from "./input/mail.ts";
import { reportOf } from "./testing/report-pages.ts";
import { recordingTransport, sampleMail } from "./testing/samples.ts";
import { folderWith, readResults, startTriage, triageMachines } from "./testing/start-triage.ts";

const machines = triageMachines();

// Dated in another order than they were received.
const mails = [
  { id: "ahead", date: "2033-11-05", received: "2026-11-02T09:00:00.000Z" },
  { id: "plain", date: "2026-11-04" },
  { id: "behind", date: "2026-11-01", received: "2026-11-05T00:30:00+01:00" },
  { id: "near", date: "2026-11-01", received: "2026-11-03T23:00:00Z" },
].map(({ id, ...days }) => sampleMail({ id, subject: id, from: "a", ...days }));

const rows = (stdout: string) =>
  stdout.split("\n").map((line) => line.replace(/ {2,}/g, " ").split("receipt ")[1]);

test("the table goes by the day of receipt and marks wrong dates; model and results have the dates", async () => {
  const cwd = await folderWith(mails);
  const transport = recordingTransport();
  const { stdout } = await startTriage(["inbox.json", "--sort", "date"], { cwd, transport });
  expect(rows(stdout)).toEqual([
    undefined,
    "2033-11-05 dated 7 years ahead a ahead",
    "2026-11-01 a near",
    "2026-11-04 a plain",
    "2026-11-01 dated 3 days behind a behind",
    undefined,
  ]);
  expect(transport.requests.map(({ state }) => Object.keys(state))).toEqual(
    mails.map(() => ["from", "subject", "date", "snippet"]),
  );
  const results = await readResults(cwd);
  expect(results.map(({ date }) => date)).toEqual(mails.map(({ date }) => date));
  expect(results[0]).not.toHaveProperty("received");
});

test.each([
  ["2026-11-02", ["ahead", "plain", "behind", "near"]],
  ["2026-11-03", ["plain", "behind", "near"]],
  ["2026-11-04", ["plain", "behind"]],
  ["2026-11-05", []],
])("--since %s takes that day's mails along: %j", async (since, shown) => {
  const cwd = await folderWith(mails);
  const table = await startTriage(["inbox.json", "--since", since], { cwd });
  expect(table.stdout.match(/\w+$/gm)?.slice(1) ?? []).toEqual(shown);
  const words = ["export", "--since", since, "--format", "ndjson"];
  const { stdout } = await startTriage(words, { cwd });
  expect(stdout.match(/(?<="id":")\w+/g) ?? []).toEqual(shown);
});

test("the report of a file and of a database has the day of receipt and marks wrong dates", async () => {
  const cwd = await folderWith(mails);
  const together = { cwd, openRuns: machines.openRuns, env: machines.env };
  await startTriage(["inbox.json"], { cwd });
  const alone = await readFile(await reportOf(cwd), "utf8");
  const { stdout } = await startTriage(["inbox.json", "--since", "2026-11-04"], together);
  expect(rows(stdout).filter(Boolean)).toEqual([
    "2026-11-04 a plain",
    "2026-11-01 dated 3 days behind a behind",
  ]);
  await startTriage(["report", "inbox.json"], together);
  const shared = await readFile(`${cwd}/inbox.triage.html`, "utf8");
  for (const page of [alone, shared]) {
    expect(page.match(/(?<=<time datetime=")[\d-]+|dated \d+ \w+ \w+/g)).toEqual([
      "2026-11-04",
      "2026-11-04",
      "dated 3 days behind",
      "2026-11-03",
      "2026-11-02",
      "dated 7 years ahead",
    ]);
  }
});

test("an answer that was kept before mails said when they were received is not asked for again", async () => {
  const cwd = await folderWith(mails.map((mail) => ({ ...mail, received: undefined })));
  const transport = recordingTransport();
  await startTriage(["inbox.json"], { cwd, transport });
  await writeFile(`${cwd}/inbox.json`, JSON.stringify(mails));
  const { stderr } = await startTriage(["inbox.json"], { cwd, transport });
  expect(stderr).toContain("To ask: 0 mails");
  expect(transport.requests).toHaveLength(4);
});

test.each([
  ["2026-11-04", ""],
  ["2026-10-31", ""],
  ["2026-11-05", "dated 3 days ahead"],
  ["2024-11-02", "dated 730 days behind"],
  ["2024-11-01", "dated 2 years behind"],
  ["1970-01-01", "dated 56 years behind"],
])("a mail of %s that was received on 2026-11-02 is %j", (date, gap) => {
  expect(describeDateGap({ date, received: "2026-11-02T23:59:59.000Z" })).toBe(gap);
});

test.each(["soon", 3, "2026-11-02"])("received as %j is a wrong record", async (received) => {
  const cwd = await folderWith([
    sampleMail(),
    Object.assign(sampleMail({ id: "b" }), { received }),
  ]);
  const { exitCode, stderr } = await startTriage(["inbox.json"], { cwd });
  expect(exitCode).toBe(1);
  expect(stderr).toContain(
    'record at index 1, line 1 (id "b"): received is no time; write 2026-11-02T09:00:00Z or leave it out',
  );
});

test.each([null, undefined])("received as %j is not known", async (received) => {
  const mail = Object.assign(sampleMail({ date: "2033-11-02" }), { received });
  const cwd = await folderWith([mail]);
  const { exitCode, stdout } = await startTriage(["inbox.json"], { cwd });
  expect([exitCode, stdout.includes("dated")]).toEqual([0, false]);
});
