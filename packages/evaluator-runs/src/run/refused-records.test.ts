import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { sampleTicket } from "../testing/tickets/ticket-source.ts";
import { folderWith, readResults, startTickets } from "../testing/tickets/start-tickets.ts";
import { recordingTransport, sampleResponse } from "../testing/samples.ts";
import { refusing, statusError, words } from "../testing/refusing.ts";

const long = sampleTicket({ id: "long", text: "word ".repeat(100) });
const tickets = [long, sampleTicket({ id: "short" })];

test("a ticket that the service refuses as too long is named once, then counted, and not asked again", async () => {
  const cwd = await folderWith(tickets);
  const { transport, asked } = refusing();
  const first = await startTickets(["inbox.json"], { cwd, transport });
  expect(first.stderr).toContain(`Failed: record at index 0 (id "long"): ${words}\n`);
  const results = await readResults(cwd);
  expect(results[0]).toMatchObject({ id: "long", scam: null, error: words });
  expect(results[1]).not.toHaveProperty("error");

  const dry = await startTickets(["inbox.json", "--dry-run"], { cwd, transport });
  expect(dry.stdout).toContain("To ask: 0 tickets");
  expect(dry.stdout).toContain("; 1 answered already, 1 refused as too long.\n");
  const second = await startTickets(["inbox.json"], { cwd, transport });
  expect(second.stderr).not.toContain("Failed:");
  expect(second.stderr).toContain("1 refused as too long before, not asked again");
  expect([first.exitCode, second.exitCode, await readResults(cwd)]).toEqual([2, 2, results]);
  expect(asked).toEqual(["long", "short"]);

  const said = async (...argv: string[]) => (await startTickets(argv, { cwd })).stdout;
  expect(await said("status")).toBe("1 of 2 tickets answered\n$0.000013 · 1 failed\n");
  expect(JSON.parse(await said("export"))).toEqual(results);
  const lack = (await startTickets(["export"], { cwd })).stderr;
  expect(lack).toContain('(see "error"); 1 refused as too long and not asked again.\n');
  expect((await startTickets(["explain", "long"], { cwd })).stderr).toContain(words);
});

test("what is missing for another reason is told apart from what is refused", async () => {
  const cwd = await folderWith([...tickets, sampleTicket({ id: "lost", subject: "lost" })]);
  const { transport } = refusing();
  const send: typeof transport.send = async (request, ...rest) => {
    const { subject } = request.state as { subject: string };
    if (subject === "lost") throw statusError(404, "Gone.");
    return await transport.send(request, ...rest);
  };
  await startTickets(["inbox.json"], { cwd, transport: { ...transport, send } });
  const { stderr } = await startTickets(["export"], { cwd });
  expect(stderr).toContain(
    'refused as too long and not asked again; "tickets work" asks for 1 more.\n',
  );
});

test("it is asked about again when its text, the questions or the engine change", async () => {
  const cwd = await folderWith(tickets);
  const { transport, asked } = refusing();
  await startTickets(["inbox.json"], { cwd, transport });
  await writeFile(join(cwd, "inbox.json"), JSON.stringify([{ ...long, text: "cut" }, tickets[1]]));
  expect((await startTickets(["inbox.json"], { cwd, transport })).exitCode).toBe(0);
  await writeFile(join(cwd, "inbox.json"), JSON.stringify(tickets));
  await startTickets(["inbox.json", "--desk", "billing"], { cwd, transport });
  const other = refusing("direct");
  await startTickets(["inbox.json"], { cwd, transport: other.transport });
  expect([asked, other.asked]).toEqual([
    ["long", "short", "short", "long", "short"],
    ["long", "short"],
  ]);
});

test("a journal from before there were refusals is read and written as it is", async () => {
  const cwd = await folderWith(tickets);
  const { transport, asked } = refusing();
  await startTickets(["inbox.json"], { cwd, transport });
  const database = new DatabaseSync(join(cwd, "inbox.tickets.sqlite"));
  database.exec("DROP TABLE refusals");
  database.close();
  const before = await readFile(join(cwd, "inbox.tickets.sqlite"));
  for (const argv of [["status"], ["inbox.json", "--dry-run"]]) {
    expect(await startTickets(argv, { cwd, transport })).toMatchObject({ exitCode: 0 });
  }
  expect(await readFile(join(cwd, "inbox.tickets.sqlite"))).toEqual(before);
  await startTickets(["inbox.json"], { cwd, transport });
  await startTickets(["inbox.json"], { cwd, transport });
  expect(asked).toEqual(["long", "short", "long"]);
});

test("an answer that cannot be used says that asking again may be paid for again", async () => {
  const cwd = await folderWith([sampleTicket()]);
  const transport = recordingTransport(() => ({ ...sampleResponse(), answers: {} }));
  for (const time of [1, 2]) {
    const { exitCode, stderr } = await startTickets(["inbox.json"], { cwd, transport });
    expect([exitCode, transport.requests.length]).toEqual([2, time]);
    expect(stderr).toMatch(/Failed: .* the same command asks again, and may be charged again\./);
  }
});
