import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { recordingTransport, sampleResponse } from "../testing/samples.ts";
import { sampleTicket } from "../testing/tickets/ticket-source.ts";
import { folderWith, readResults, startTickets } from "../testing/tickets/start-tickets.ts";

const tickets = ["2026-11-01", "2026-11-02", "2026-11-03"].map((date, at) =>
  sampleTicket({ id: `m-${at}`, date, from: "a@b.example", subject: `About ${at}` }),
);

function transport() {
  return recordingTransport((index) => sampleResponse({ importance: index }));
}

async function start(cwd: string, ...words: string[]) {
  return await startTickets(words, { cwd, transport: transport() });
}

async function folderAfterTwoRuns() {
  const cwd = await folderWith(tickets.slice(0, 2));
  await start(cwd, "inbox.json");
  await writeFile(join(cwd, "inbox.json"), JSON.stringify(tickets));
  return cwd;
}

test("the table marks the tickets that are new since the run before, and the results stay the contract's", async () => {
  const cwd = await folderAfterTwoRuns();
  const { stdout, stderr } = await start(cwd, "inbox.json");
  expect(stderr).toContain("New since the run of 2026-11-21: 1 of 3 tickets.\n");
  expect(stdout.replace(/ +/g, " ").trim().split("\n")).toEqual([
    "imp conf scam deal category date from subject",
    "1.00 0.80 0.12 0.03 receipt 2026-11-02 a@b.example About 1",
    "0.00 0.80 0.12 0.03 receipt 2026-11-01 a@b.example About 0",
    "0.00 0.80 0.12 0.03 receipt 2026-11-03 new a@b.example About 2",
  ]);
  expect((await readResults(cwd))[2]).not.toHaveProperty("new");
});

test("--since and --only leave rows out of the table, which says so, and none out of the results", async () => {
  const cwd = await folderAfterTwoRuns();
  const words = ["--since", "2026-11-02", "--only", "importance < 1, new"];
  const { stdout, stderr } = await start(cwd, "inbox.json", ...words);
  expect(stderr).toContain(
    "The table shows 1 of 3 tickets: since 2026-11-02, only importance < 1, new.\n",
  );
  expect(stdout.match(/About \d/g)).toEqual(["About 2"]);
  expect(await readResults(cwd)).toHaveLength(3);
});

test("a filter that names no answer is refused before anything is sent", async () => {
  const cwd = await folderWith(tickets);
  const recording = transport();
  const words = ["inbox.json", "--only", "categry = receipt"];
  const { exitCode, stderr } = await startTickets(words, { cwd, transport: recording });
  expect([exitCode, recording.requests.length]).toEqual([1, 0]);
  expect(stderr).toContain('--only, column 1: "categry" is no answer of this run; there are categ');
});

test("an export has the tickets that are asked for, and a count of what lacks among them", async () => {
  const cwd = await folderAfterTwoRuns();
  await start(cwd, "inbox.json");
  const { stdout, exitCode } = await start(cwd, "export", "--only", "new", "--format", "csv");
  expect(exitCode).toBe(0);
  expect(stdout.trim().split("\n")).toHaveLength(2);
  expect(stdout).toContain("m-2");
});

test.each([
  ["csv", "id,action\nm-1,star\nm-0,archive\nm-2,archive\n"],
  ["ndjson", '{"id":"m-1","action":"star","evidence":null}\n'],
])(
  "rules are exported as ids and actions, in %s, the first rule that fits",
  async (format, text) => {
    const cwd = await folderAfterTwoRuns();
    await start(cwd, "inbox.json");
    await writeFile(
      join(cwd, "rules.txt"),
      "importance >= 1 → star\ncategory = receipt → archive\n",
    );
    const words = ["export", "--rules", "rules.txt", "--format", format];
    const { stdout, stderr, exitCode } = await start(cwd, ...words);
    expect(exitCode).toBe(0);
    const lines = (printed: string) => printed.split("\n").toSorted();
    expect(lines(stdout)).toEqual(expect.arrayContaining(lines(text)));
    expect(stderr).toBe(
      "line 1: importance >= 1 → star: 1 ticket; no promise: no calibration (--calibration)\n" +
        "line 2: category = receipt → archive: 2 tickets; no promise: no calibration (--calibration)\n" +
        "Rules take 3 of 3 tickets; nothing was done.\n",
    );
  },
);

test("a wrong rule is named with its place, and nothing is printed", async () => {
  const cwd = await folderWith(tickets);
  await start(cwd, "inbox.json");
  await writeFile(join(cwd, "rules.txt"), "scam >= 0.9 -> junk\ncategory = recipt -> archive\n");
  const { stdout, stderr, exitCode } = await start(cwd, "export", "--rules", "rules.txt");
  expect([exitCode, stdout]).toEqual([1, ""]);
  expect(stderr).toContain('line 2 column 12: category has no option "recipt"; it has security_al');
});
