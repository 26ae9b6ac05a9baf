import { readdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { recordingTransport, sampleResponse } from "../testing/samples.ts";
import { sampleTicket } from "../testing/tickets/ticket-source.ts";
import { folderWith, startTickets } from "../testing/tickets/start-tickets.ts";

function dearResponse() {
  const { providerMetadata, ...response } = sampleResponse();
  const gateway = { marketCost: "0.003", routing: {} };
  return { ...response, providerMetadata: { ...providerMetadata, gateway } };
}

function inbox(length: number, text = "Short.") {
  return Array.from({ length }, (_, index) => sampleTicket({ id: `m-${index}`, text }));
}

test("the estimate comes before the first call, the real totals after the last", async () => {
  const cwd = await folderWith(inbox(3));
  const said: string[] = [];
  const transport = recordingTransport();
  const stderr = { write: (text: string) => said.push(`${transport.requests.length}: ${text}`) };
  await startTickets(["inbox.json", "--concurrency", "1"], { cwd, transport, stderr });
  expect(said[0]).toBe("0: Engine: unknown through gateway.\n");
  expect(said[1]).toMatch(
    /^0: To ask: 3 tickets, about \d\d\d tokens, \$0\.0000\d+ \(\$0\.042 a million tokens: the documented price\), 1 s at 0\.3 s a call\.\n$/,
  );
  expect(said[2]).toBe(
    "3: Answered: 3. Journal: inbox.tickets.sqlite. Took 900 tokens, $0.000038, 0 s.\n",
  );
});

test("a dry run prints the estimate, sends nothing and makes nothing", async () => {
  const cwd = await folderWith(inbox(3));
  const transport = recordingTransport();
  const { exitCode, stdout } = await startTickets(["inbox.json", "--dry-run"], { cwd, transport });
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^To ask: 3 tickets, about /);
  expect(transport.requests).toEqual([]);
  expect(await readdir(cwd)).toEqual(["inbox.json"]);
});

test("a dry run counts what the journal has", async () => {
  const cwd = await folderWith(inbox(3));
  await startTickets(["inbox.json", "--limit", "2"], { cwd });
  const { stdout } = await startTickets(["inbox.json", "--dry-run"], { cwd });
  expect(stdout).toMatch(/^To ask: 1 ticket, .*; 2 answered already\.\nThe key's limit is unknown/);
});

test("an estimate above --max-cost keeps everything from being sent", async () => {
  const cwd = await folderWith(inbox(3));
  const transport = recordingTransport();
  const words = ["inbox.json", "--max-cost", "0.00001"];
  const { exitCode, stderr } = await startTickets(words, { cwd, transport });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("The run would cost more than $0.00001 (--max-cost); nothing was sent.");
  expect(transport.requests).toEqual([]);
});

test("a run that turns out dearer than estimated ends before it passes --max-cost", async () => {
  const cwd = await folderWith(inbox(10));
  const transport = recordingTransport(dearResponse);
  const words = ["inbox.json", "--concurrency", "1", "--max-cost", "0.01"];
  const { exitCode, stderr } = await startTickets(words, { cwd, transport });
  expect(exitCode).toBe(1);
  expect(transport.requests).toHaveLength(3);
  expect(stderr).toContain("Stopped: The run costs more than --max-cost 0.01");
  expect(stderr).toContain("3 of 10 answers are kept, and 7 records not asked; ");
});

test("a cheap run asks nobody", async () => {
  const cwd = await folderWith(inbox(3));
  const confirm = async () => expect.unreachable("nobody asks");
  expect(await startTickets(["inbox.json"], { cwd, confirm })).toMatchObject({ exitCode: 0 });
});
