import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AuthenticationError } from "evaluator-client";
import { expect, test } from "vitest";
import { recordingTransport, sampleResponse } from "../testing/samples.ts";
import { sampleTicket } from "../testing/tickets/ticket-source.ts";
import { folderWith, readResults, startTickets } from "../testing/tickets/start-tickets.ts";

const threeTickets = ["m-1", "m-2", "m-3"].map((id) =>
  sampleTicket({ id, subject: `About ${id}` }),
);

test("a missing confidence is null in the file and a dash in the table", async () => {
  const cwd = await folderWith([sampleTicket()]);
  const transport = recordingTransport(() => sampleResponse({ confidence: {} }));
  const { stdout } = await startTickets(["inbox.json"], { cwd, transport });
  expect(await readResults(cwd)).toMatchObject([{ categoryConf: null, importanceConf: null }]);
  expect(stdout).toMatch(/^2\.00 {2}- {5}0\.12 /m);
});

test("a ticket that fails leaves what it cannot have cost to the next one", async () => {
  const cwd = await folderWith(threeTickets);
  const sample = sampleResponse();
  // Dearer than estimated: there is enough for this one and one more.
  const dear = { ...sample, providerMetadata: { gateway: { marketCost: "0.001" } } };
  const transport = recordingTransport((index) => (index === 0 ? { answers: "none" } : dear));
  const words = ["inbox.json", "--price", "1", "--max-cost", "0.012"];
  const { exitCode } = await startTickets(words, { cwd, transport });
  expect(transport.requests).toHaveLength(3);
  expect(exitCode).toBe(2);
});

test("a limit takes that many records from the start", async () => {
  const cwd = await folderWith(threeTickets);
  const transport = recordingTransport();
  await startTickets(["inbox.json", "--limit", "2"], { cwd, transport });
  expect(await readResults(cwd)).toMatchObject([{ id: "m-1" }, { id: "m-2" }]);
  expect(transport.requests).toHaveLength(2);
});

test("no records give an empty file and a bare header", async () => {
  const cwd = await folderWith([]);
  const { exitCode, stdout } = await startTickets(["inbox.json"], { cwd });
  expect({ exitCode, lines: stdout.split("\n").length }).toEqual({ exitCode: 0, lines: 2 });
  expect(await readResults(cwd)).toEqual([]);
});

test("raw output is one line for each call, before the table", async () => {
  const cwd = await folderWith(threeTickets);
  const { stdout } = await startTickets(["inbox.json", "--raw"], { cwd });
  const { answers, providerMetadata } = sampleResponse();
  const lines = stdout.split("\n");
  expect(lines.slice(0, 3).map((line) => JSON.parse(line))).toEqual(
    threeTickets.map(({ id }) => ({ id, answers, providerMetadata })),
  );
  expect(lines[3]).toMatch(/^imp /);
});

test("results that could not be written keep every record from being sent", async () => {
  const cwd = await folderWith(threeTickets);
  await mkdir(join(cwd, "inbox.tickets.json"));
  const transport = recordingTransport();
  const { exitCode, stderr } = await startTickets(["inbox.json"], { cwd, transport });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("inbox.tickets.json is not a file; move it.");
  expect(transport.requests).toEqual([]);
});

test("a ticket without an answer keeps its place, with nulls and the error, and the run ends with 2", async () => {
  const cwd = await folderWith(threeTickets);
  const transport = recordingTransport((index) => (index === 1 ? {} : sampleResponse()));
  const { exitCode, stdout, stderr } = await startTickets(["inbox.json"], { cwd, transport });
  expect(exitCode).toBe(2);
  const [first, second, third] = await readResults(cwd);
  expect([first, third]).toMatchObject([{ importance: 2 }, { id: "m-3", importance: 2 }]);
  expect(Object.keys(second ?? {})).toEqual([...Object.keys(first ?? {}), "error"]);
  expect(second).toMatchObject({ id: "m-2", category: null, importanceConf: null, scam: null });
  expect(second?.["error"]).toMatch(/^The response body does not have the shape/);
  expect(stderr).toContain(
    'Failed: record at index 1 (id "m-2"): The response body does not have the shape',
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
  const cwd = await folderWith(threeTickets);
  await writeFile(join(cwd, "inbox.tickets.json"), '[{"id":"older"}]');
  const transport = recordingTransport((index) => {
    if (index === 0) return sampleResponse();
    throw new AuthenticationError("The key is wrong\u001b[2J.", rejected);
  });
  const { exitCode, stdout, stderr } = await startTickets(["inbox.json", "--concurrency", "1"], {
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
  const outcome = await startTickets(["inbox.json", "--of-line"], {});
  const stderr =
    "Unknown option '--of-line' (Did you mean --offline?)\nFor its options: tickets run --help\n";
  expect(outcome).toEqual({ exitCode: 1, stdout: "", stderr });
});
