import { existsSync, fstatSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { columnsOf, systemFiles } from "evaluator-kit";
import { formatRecords } from "../testing/index.ts";
import { expect, test } from "vitest";
import { recordingTransport, sampleResponse } from "../testing/samples.ts";
import { sampleTicket } from "../testing/tickets/ticket-source.ts";
import { folderWith, readResults, startTickets } from "../testing/tickets/start-tickets.ts";

const nasty = [
  "=cmd|'/c calc'!A0",
  "+1",
  "-1",
  "@SUM(A1)",
  "\t=1",
  "\r\n=1",
  "\u0000=1",
  "\u202e=1",
  "\u001b[31m=1",
  "＝1",
  'say "hi", then\nbye',
];

async function resultsAs(format: string): Promise<string> {
  const tickets = nasty.map((subject, index) =>
    sampleTicket({ id: `m-${index}`, subject, from: subject }),
  );
  const cwd = await folderWith(tickets);
  await startTickets(["inbox.json", "--format", format], { cwd });
  return await readFile(join(cwd, `inbox.tickets.${format}`), "utf8");
}

test("CSV has a header and a row for each record, and no cell a spreadsheet would run", async () => {
  const [header, ...rows] = (await resultsAs("csv")).trimEnd().split("\n");
  expect(header).toBe(
    "id,date,from,subject,category,categoryConf,importance,importanceConf,brandDeal,scam",
  );
  expect(rows.map((row) => row.split(",").slice(3, -6).join(","))).toEqual([
    "'=cmd|'/c calc'!A0",
    "'+1",
    "'-1",
    "'@SUM(A1)",
    "'=1",
    "'=1",
    "'=1",
    "'=1",
    "'=1",
    "'＝1",
    expect.stringContaining('"say ""hi"", then bye"'),
  ]);
  expect(rows[0]).toMatch(/,receipt,0\.9,2,0\.8,0\.03,0\.12$/);
});

test("CSV with long cells comes row by row, so that no piece is long", async () => {
  const rows = Array.from({ length: 6 }, () => ({ id: "x".repeat(600_000) }));
  const pieces: string[] = [];
  for await (const piece of formatRecords(rows, { format: "csv", names: ["id"] })) {
    pieces.push(piece);
  }
  expect(pieces.map(({ length }) => Math.round(length / 600_000))).toEqual([0, 1, 1, 1, 1, 1, 1]);
});

test("NDJSON has one record a line, as it is", async () => {
  const lines = (await resultsAs("ndjson")).trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).subject)).toEqual(nasty);
});

test("the table is sorted by any field, and cut, while the file keeps all in order", async () => {
  const tickets = ["b", "c", "a"].map((subject, index) =>
    sampleTicket({ id: `m-${index}`, subject }),
  );
  const cwd = await folderWith(tickets);
  const transport = recordingTransport((index) => sampleResponse({ importance: index }));
  const words = ["inbox.json", "--sort", "subject", "--top", "2"];
  const { stdout } = await startTickets(words, { cwd, transport });
  expect(
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.slice(-1)),
  ).toEqual(["t", "a", "b"]);
  const written = JSON.parse(await readFile(join(cwd, "inbox.tickets.json"), "utf8"));
  expect(written).toMatchObject(tickets.map(({ id }) => ({ id })));
});

test("a field that is not there cannot be sorted by", async () => {
  const cwd = await folderWith([]);
  const { exitCode, stderr } = await startTickets(["inbox.json", "--sort", "size"], { cwd });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("--sort takes one of id, date, from, subject, category, ");
});

test("the table has no colours, also on a terminal, because it has no verdicts", async () => {
  const cwd = await folderWith([sampleTicket({ subject: "\u001b[31mred" })]);
  let printed = "";
  const stdout = { isTTY: true, write: (text: string) => (printed += text) };
  const transport = recordingTransport(() => sampleResponse({ importance: 5 }));
  await startTickets(["inbox.json"], { cwd, stdout, transport });
  expect(printed).toContain("5.00  ");
  expect(printed).not.toContain("\u001b");
});

test("a terminal gets rows that fit, fifty of many, and where the rest is", async () => {
  const tickets = Array.from({ length: 210 }, (_, index) =>
    sampleTicket({ id: `m-${index}`, subject: "日本語の件名".repeat(9) }),
  );
  const cwd = await folderWith(tickets);
  let printed = "";
  const stdout = { isTTY: true, columns: 80, write: (text: string) => (printed += text) };
  await startTickets(["inbox.json"], { cwd, stdout });
  const lines = printed.trimEnd().split("\n");
  expect(lines).toHaveLength(52);
  expect(lines.map(columnsOf).filter((columns) => columns > 80)).toEqual([]);
  expect(lines.at(-1)).toMatch(
    /^160 more rows: --top 210 prints them all; .* inbox\.tickets\.json$/,
  );
  expect(await readResults(cwd)).toHaveLength(210);
});

test("a terminal of unknown size gets whole rows", async () => {
  const cwd = await folderWith([sampleTicket({ subject: "A long subject that no width cuts" })]);
  let printed = "";
  const stdout = { isTTY: true, columns: 0, write: (text: string) => (printed += text) };
  await startTickets(["inbox.json"], { cwd, stdout });
  expect(printed).toContain("A long subject that no width cuts");
});

test("results are synced as a whole before they take their name, and then their folder", async () => {
  const cwd = await folderWith([sampleTicket()]);
  const path = join(cwd, "inbox.tickets.json");
  const synced: { isFile: boolean; size: number; isInPlace: boolean }[] = [];
  const sync: typeof systemFiles.sync = async (file) => {
    const stats = fstatSync(file);
    synced.push({ isFile: stats.isFile(), size: stats.size, isInPlace: existsSync(path) });
    await systemFiles.sync(file);
  };
  await startTickets(["inbox.json"], { cwd, files: { ...systemFiles, sync } });
  const { length: size } = await readFile(path);
  expect(synced).toEqual([
    { isFile: true, size, isInPlace: false },
    { isFile: false, size: expect.any(Number), isInPlace: true },
  ]);
});
