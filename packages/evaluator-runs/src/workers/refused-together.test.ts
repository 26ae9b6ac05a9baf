import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { refusing, words } from "../testing/refusing.ts";
import { ticketMachines } from "../testing/tickets/start-tickets.ts";
import { sampleTicket } from "../testing/tickets/ticket-source.ts";
import { folderWith, readResults } from "../testing/tickets/start-tickets.ts";

const machines = ticketMachines();

const long = sampleTicket({ id: "long", text: "word ".repeat(100) });
const tickets = [long, sampleTicket({ id: "short" })];

async function folder() {
  const cwd = await folderWith(tickets);
  const { transport, asked } = refusing();
  const start = (...argv: string[]) => machines.start(argv, { cwd, transport });
  return { cwd, asked, start };
}

test("a refused ticket of a run of many machines is named once, then counted, and not asked again", async () => {
  const { cwd, asked, start } = await folder();
  const first = await start("inbox.json");
  expect(first.stderr).toContain(`Failed: record at index 0 (id "long"): ${words}\n`);
  const results = await readResults(cwd);
  expect(results[0]).toMatchObject({ id: "long", scam: null, error: words });
  const dry = await start("inbox.json", "--dry-run");
  expect(dry.stdout).toContain("To ask: 0 tickets");
  expect(dry.stdout).toContain("; 1 answered already, 1 refused as too long.\n");
  for (const again of [await start("inbox.json"), await start("inbox.json", "--format", "csv")]) {
    expect(again.stderr).toContain("To ask: 0 tickets");
    expect(again.stderr).toContain("1 refused as too long");
    expect(again.stderr).not.toContain("Failed:");
    expect(again.exitCode).toBe(2);
  }
  expect(await readResults(cwd)).toEqual(results);
  expect(await readFile(join(cwd, "inbox.tickets.csv"), "utf8")).toContain(
    words.replaceAll('"', '""'),
  );
  expect(asked).toEqual(["long", "short"]);
});

test("a longer export asks about its new tickets alone, and a changed ticket again", async () => {
  const { cwd, asked, start } = await folder();
  await start("inbox.json");
  const write = async (...records: object[]) =>
    await writeFile(join(cwd, "inbox.json"), JSON.stringify(records));
  await write(sampleTicket({ id: "new", subject: "new" }), ...tickets);
  const longer = await start("inbox.json");
  expect(longer.stderr).toContain("To ask: 1 ticket,");
  expect(longer.stderr).not.toContain("Failed:");
  expect((await readResults(cwd))[1]).toMatchObject({ id: "long", error: words });
  await write({ ...long, text: "cut" });
  expect((await start("inbox.json")).exitCode).toBe(0);
  await write(long);
  await start("inbox.json", "--desk", "billing");
  expect(asked).toEqual(["long", "short", "short", "short", "long"]);
});
