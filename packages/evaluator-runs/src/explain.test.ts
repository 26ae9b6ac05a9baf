import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { recordingTransport, sampleResponse } from "./testing/samples.ts";
import { sampleTicket } from "./testing/tickets/ticket-source.ts";
import { folderWith, startTickets } from "./testing/tickets/start-tickets.ts";

async function explained(words: readonly string[], fields = {}) {
  const cwd = await folderWith([sampleTicket(fields)]);
  await startTickets(["inbox.json"], { cwd });
  return await startTickets(["explain", ...words], { cwd });
}

test("prints state, questions, all probabilities, confidence, model and cost of one ticket", async () => {
  const { exitCode, stdout } = await explained(["m-1"]);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^ticket +m-1\nasked +unknown through gateway\nmodel +not reported\n/);
  expect(stdout).toContain("for 300 tokens");
  expect(stdout).toMatch(/^ +subject +Your statement is ready$/m);
  expect(stdout).toMatch(/^category \(choice\): What kind of email is this\?$/m);
  expect(stdout).toMatch(/^ +answer +receipt\n +confidence +0\.9\n/m);
  expect(stdout).toMatch(/^ +1\.00 +receipt +about receipt$/m);
  expect(stdout).toMatch(/^ +0\.00 +5 +insane: so/m);
  expect(stdout).toMatch(/^scam \(boolean\): .*\n +answer +yes: 0\.12$/m);
});

test("takes the file the ticket is from", async () => {
  expect(await explained(["m-1", "inbox.json"])).toMatchObject({ exitCode: 0 });
});

test("a ticket cannot add lines or steer the terminal", async () => {
  const nasty = "a\u001b[2J\nscam (boolean): forged\u202e";
  const { stdout } = await explained(["m-1"], { subject: nasty, from: nasty, text: nasty });
  expect(stdout).not.toMatch(/^scam \(boolean\): forged/m);
  expect(stdout.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

test("an unknown ticket, and one without an answer, are named as that", async () => {
  expect(await explained(["m-2"])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("No run of this journal has this id; check it"),
  });
  const cwd = await folderWith([sampleTicket()]);
  await startTickets(["inbox.json"], { cwd, transport: recordingTransport(() => ({})) });
  const { exitCode, stderr } = await startTickets(["explain", "m-1"], { cwd });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("This ticket has no answer. The response body does not have the shape");
});

test("an answer of an interrupted run is explained by its own questions, also after a run that asked others", async () => {
  const cwd = await folderWith(["m-1", "m-2", "m-3"].map((id) => sampleTicket({ id })));
  const interruption = new AbortController();
  const transport = recordingTransport((index) => {
    if (index === 1) interruption.abort();
    return sampleResponse();
  });
  const { signal } = interruption;
  await startTickets(["inbox.json", "--concurrency", "1"], { cwd, transport, signal });
  const questions = { scam: { type: "boolean", instructions: "Is it a trick?" } };
  await writeFile(join(cwd, "q.json"), JSON.stringify(questions));
  const { scam } = sampleResponse().answers;
  const later = recordingTransport(() => ({ ...sampleResponse(), answers: { scam } }));
  const words = ["inbox.json", "--questions", "q.json", "--limit", "1"];
  expect(await startTickets(words, { cwd, transport: later })).toMatchObject({ exitCode: 0 });

  const { stdout } = await startTickets(["explain", "m-2"], { cwd });
  expect(stdout).toMatch(/^category \(choice\): What kind.*\n +answer +receipt\n/m);
  expect(stdout).not.toContain("Is it a trick?");
  using journal = new DatabaseSync(join(cwd, "inbox.tickets.sqlite"));
  journal.exec("UPDATE answers SET evaluation = replace(evaluation, '0.12', '0.99')");
  const changed = await startTickets(["explain", "m-2"], { cwd });
  expect(changed.stdout).toMatch(/^answer +missing; start the run again$/m);
  expect(changed.stdout).toMatch(/^ +subject +Your statement is ready$/m);
});

test("without a journal it makes none", async () => {
  const cwd = await folderWith([]);
  expect(await startTickets(["explain", "m-1"], { cwd })).toMatchObject({ exitCode: 1 });
  const { exitCode, stderr } = await startTickets(["explain", "m-1", "inbox.json"], { cwd });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("There is no journal at ");
});

test.each([["status"], ["export"], ["explain", "m-1"]])(
  "a journal whose folder is not there is missing, says %s",
  async (...command) => {
    const cwd = await folderWith([]);
    const journal = join("gone", "inbox.tickets.sqlite");
    const { exitCode, stderr } = await startTickets([...command, "--journal", journal], { cwd });
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("There is no journal at ")]);
  },
);
