import { appendFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CliError } from "evaluator-kit";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { mailsOf, sampleMail } from "../testing/samples.ts";
import { openMails } from "./mail-input.ts";

async function fileWith(content: string | Uint8Array): Promise<string> {
  const path = join(await temporaryFolder(), "inbox.json");
  await writeFile(path, content);
  return path;
}

async function read(input: unknown, options = {}) {
  return await mailsOf(await fileWith(JSON.stringify(input)), options);
}

async function problemOf(input: unknown): Promise<string> {
  const path = await fileWith(typeof input === "string" ? input : JSON.stringify(input));
  const error = await openMails(path).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(CliError);
  const start = `${path} cannot be used, and nothing was sent:\n  `;
  const { message } = error as CliError;
  expect(message.slice(0, start.length)).toBe(start);
  return message.slice(start.length);
}

test("gives the records in order, without the fields it does not know", async () => {
  const first = { ...sampleMail({ id: "b" }), labels: ["INBOX"] };
  const second = sampleMail({ id: "a", subject: "", date: "2024-02-29" });
  expect(await read([first, second])).toEqual([sampleMail({ id: "b" }), second]);
});

const mails = [sampleMail({ id: "é" }), sampleMail({ id: "日本", subject: 'a "\\" ] } , [ b' })];
const [one, two] = mails.map((mail) => JSON.stringify(mail));

test.each([
  ["an array", `[${one},${two}]`],
  ["an indented array with space around it", ` \n${JSON.stringify(mails, null, 2)}\n\n`],
  ["an object of mails", `{"mails":[${one},${two}]}`],
  [
    "an indented object of mails among other fields",
    JSON.stringify({ made: { by: ["x"], mails: 1 }, mails, next: [null] }, null, 2),
  ],
  ["one record a line", `${one}\n${two}\n`],
  ["one record a line, of Windows, with empty lines and no last end", `\r\n${one}\r\n\r\n${two}`],
])("reads %s, in UTF-8 and UTF-16, with and without byte order mark", async (_, text) => {
  const marked = `\uFEFF${text}`;
  const files = [text, marked].flatMap((text) => [
    Buffer.from(text),
    Buffer.from(text, "utf16le"),
    Buffer.from(text, "utf16le").swap16(),
  ]);
  for (const file of files) expect(await mailsOf(await fileWith(file))).toEqual(mails);
});

test.each([["[]"], [" [ \n ] "], ['{"mails":[]}']])("%s is no mails", async (text) => {
  expect(await mailsOf(await fileWith(text))).toEqual([]);
});

test.each(["null", '"text"', "3", "From: mother, Subject: noon"])(
  "%j is no list of records",
  async (text) => {
    expect(await problemOf(text)).toMatch(
      /^it is no list of records; write a JSON array, \{ "mails": \[\.\.\.\] \} or a record a line\n/,
    );
  },
);

test("a number as id is its text, and a date with a time its day", async () => {
  const dates = [
    "2026-11-02T23:30:00Z",
    "2026-11-02T23:30",
    "2026-11-02 23:30:15.123 +0100",
    "2026-11-02t23:30:00,5-05:00",
  ];
  const records = dates.map((date, id) => ({ ...sampleMail({ date }), id }));
  expect(await read(records)).toEqual(dates.map((_, id) => sampleMail({ id: String(id) })));
});

const { id: _, ...withoutId } = sampleMail();
const { subject: __, ...withoutSubject } = sampleMail();

test.each([
  ["(no id): id is missing; give every record its own id", withoutId],
  ["(no id): id is not text; give every record its own id", { ...sampleMail(), id: true }],
  ["(no id): id is not text; give every record its own id", { ...sampleMail(), id: 2 ** 53 }],
  ["(no id): id is empty; give every record its own id", sampleMail({ id: "" })],
  ['(id "m-1"): subject is missing; write it as text, "" for none', withoutSubject],
  [
    '(id "m-1"): snippet is not text; write it as text, "" for none',
    { ...sampleMail(), snippet: null },
  ],
  [
    '(id "m-1"): date is not a day of the calendar; write it as YYYY-MM-DD',
    sampleMail({ date: "2026-02-30" }),
  ],
  [
    '(id "m-1"): date is not a day of the calendar; write it as YYYY-MM-DD',
    sampleMail({ date: "2026-02-30T10:00:00Z" }),
  ],
  [
    '(id "m-1"): date is not a day of the calendar; write it as YYYY-MM-DD',
    sampleMail({ date: "2 Nov 2026" }),
  ],
  [
    '(id "17"): id is also that of the record at index 0, line 1; give every record its own id',
    { ...sampleMail(), id: 17 },
  ],
  ["(no id): is not an object; write { id, date, from, subject, snippet }", "a mail"],
])("says of a record: %s", async (problem, record) => {
  expect(await problemOf([sampleMail({ id: "17" }), record])).toBe(
    `record at index 1, line 1 ${problem}`,
  );
});

test("lists every problem in order, ten at most, and counts the rest", async () => {
  const records = Array.from({ length: 12 }, (_, index) =>
    sampleMail({ id: `m-${index}`, date: "" }),
  );
  expect(await problemOf(records)).toMatch(
    /index 0, .*\n.*index 1, [^]*index 9, .*\n {2}and 2 more$/,
  );
});

test("says nothing of what a mail says", async () => {
  const secret = "Meet me at noon";
  const record = { id: 1, date: secret, from: secret, subject: [secret], snippet: { secret } };
  expect(await problemOf([record])).not.toContain(secret);
});

test("shows an id on one line, without terminal escapes, and cut", async () => {
  const id = `\u001b[31mred\n${"x".repeat(100)}`;
  expect(await problemOf([sampleMail({ id, date: "" })])).toContain(`(id "red ${"x".repeat(56)}")`);
});

test.each([
  [
    "a missing comma",
    '[\n  { "id": "m-1", "subject": "Meet me at noon" "date": "" }\n]',
    "record at index 0, line 2 (no id): is not JSON; check line 2 column 47",
  ],
  [
    "a mistake in a later line of a record",
    '{ "mails": [\n {\n  "id": secret\n } ] }',
    "record at index 0, line 2 (no id): is not JSON; check line 3 column 9",
  ],
  [
    "a comma too many",
    `[${one},]`,
    `record at index 1, line 1 (no id): is not JSON; check line 1 column ${Buffer.byteLength(one ?? "") + 3}`,
  ],
  [
    "a broken line",
    `${one}\n{"id": "secr\n`,
    "record at index 1, line 2 (no id): is not JSON; check line 2 column 13",
  ],
  ["no end", `[${one},${two}`, "the list of records has no end"],
  ["more after its end", `[${one}]]`, "not JSON around the list of records"],
  ["a wrong bracket", `[${one}}`, "not JSON around the list of records"],
])("JSON with %s is named by its place and never quoted", async (_, text, problem) => {
  expect(await problemOf(text)).toBe(problem);
});

test("text in another encoding is refused instead of read as something else", async () => {
  const latin1 = await fileWith(Buffer.from(JSON.stringify([sampleMail({ id: "é" })]), "latin1"));
  await expect(openMails(latin1)).rejects.toThrow(
    "index 0, line 1 (no id): is not UTF-8 text; save",
  );
  const cut = await fileWith(Buffer.from(JSON.stringify(mails), "utf16le").subarray(0, -1));
  await expect(openMails(cut)).rejects.toThrow("it is not whole UTF-16 text");
});

test("with skipInvalid what is wrong is left out, named and counted", async () => {
  const lines = [one, "{", JSON.stringify(sampleMail({ id: "bad", date: "" })), one, two].join(
    "\n",
  );
  const file = await openMails(await fileWith(lines), { skipInvalid: true });
  expect(file.length).toBe(2);
  expect(file.leftOutCount).toBe(3);
  expect(file.describeLeftOut()).toBe(
    [
      "Left out as invalid (3):",
      "  record at index 1, line 2 (no id): is not JSON; check line 2 column 2",
      '  record at index 2, line 3 (id "bad"): date is not a day of the calendar; write it as YYYY-MM-DD',
      '  record at index 3, line 4 (id "é"): id is also that of the record at index 0, line 1; give every record its own id',
      "",
    ].join("\n"),
  );
  expect(await readAll(file)).toEqual([
    { index: 0, mail: mails[0] },
    { index: 4, mail: mails[1] },
  ]);
});

test("with skipInvalid a file of wrong records alone is still refused", async () => {
  const path = await fileWith(JSON.stringify([{ id: "a" }]));
  await expect(openMails(path, { skipInvalid: true })).rejects.toThrow('(id "a"): date is missing');
});

test("gives as many mails as are wanted, and reads no further", async () => {
  const path = await fileWith(`[${one},${two}]`);
  const file = await openMails(path);
  await writeFile(path, `[${one},x`);
  const found = [];
  for await (const { record } of file.records(1)) found.push(record.mail);
  expect(found).toEqual(mails.slice(0, 1));
});

async function readAll(file: Awaited<ReturnType<typeof openMails>>) {
  const found = [];
  for await (const { index, record } of file.records()) found.push({ index, mail: record.mail });
  return found;
}

test.each([
  ["shorter", `[${one}]`],
  ["wrong", `[${one},{}]`],
])("a file that has become %s since is named", async (_, text) => {
  const path = await fileWith(`[${one},${two}]`);
  const file = await openMails(path);
  await writeFile(path, text);
  await expect(readAll(file)).rejects.toThrow(`${path} has changed since`);
});

test("a record larger than any mail ends the run before it fills the memory", async () => {
  const path = await fileWith(`[${one},"`);
  const part = Buffer.alloc(13 * 1024 * 1024, "x");
  for (let parts = 0; parts < 5; parts += 1) await appendFile(path, part);
  await appendFile(path, `",${two}]`);
  expect(await mailsOf(path, { skipInvalid: true })).toEqual(mails);
  await expect(openMails(path)).rejects.toThrow("index 1, line 1 (no id): is larger than 64 MB");
});

test("a missing file is named", async () => {
  const path = join(await temporaryFolder(), "inbox.json");
  await expect(openMails(path)).rejects.toThrow(`Cannot read ${path}: no such file or directory.`);
});

test("a folder is not a file", async () => {
  await expect(openMails(await temporaryFolder())).rejects.toThrow("on a directory");
});

test("a reading that is interrupted ends", async () => {
  const path = await fileWith(`[${one}]`);
  const signal = AbortSignal.abort("enough");
  await expect(openMails(path, { signal })).rejects.toBe("enough");
});

test("records that lie across many pieces of a file come whole", async () => {
  const many = Array.from({ length: 3000 }, (_, index) =>
    sampleMail({ id: `m-${index}`, snippet: 'é\\"]},'.repeat(index % 90) }),
  );
  expect(await read(many)).toEqual(many);
  const lines = many.map((mail) => JSON.stringify(mail)).join("\n");
  expect(await mailsOf(await fileWith(Buffer.from(lines, "utf16le")))).toEqual(many);
});

test.each([127, 128, 129, 16_511, 16_512, 70_000])(
  "what stands behind %s letters of a text ends no record, and a line break there ends the text",
  async (length) => {
    const text = "x".repeat(length);
    const long = ['"', "\\", '\\"]},'].map((odd) =>
      sampleMail({ id: odd, subject: `${text}${odd} ] , [ x`, snippet: `\\${text}\\` }),
    );
    expect(await read(long)).toEqual(long);
    const first = JSON.stringify(long[0]);
    expect(await problemOf(`[${first},x]`)).toMatch(
      new RegExp(`is not JSON; check line 1 column ${first.length + 3}$`),
    );
    const cut = await fileWith(`[{"id":"${text}\n},${two}]`);
    expect(await mailsOf(cut, { skipInvalid: true })).toEqual([mails[1]]);
  },
);
