import { expect, test } from "vitest";
import { readMailFile } from "./mail-files.ts";

const MESSAGE_BYTES = 1024 * 1024;
/** Reads a file, whose bytes the text gives as Latin-1 has them. */
async function read(content: string, name = "a", given: { diskPath?: null; prefix?: string } = {}) {
  const bytes = Buffer.from(content, "latin1");
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += 100_000) yield bytes.subarray(at, at + 100_000);
  }
  const modifiedAt = new Date("2026-11-05");
  const file = { name, prefix: "", diskPath: "/a", modifiedAt, contentChunks: pieces(), ...given };
  const found = [];
  for await (const mail of readMailFile(file, {
    start: bytes.subarray(0, 65_536),
    all: file.contentChunks,
  })) {
    if ("reason" in mail) found.push({ reason: mail.reason, mayBeMail: mail.mayBeMail });
    else {
      const { subject, text } = await mail.read();
      found.push({ name: mail.name, length: mail.mailBytes?.length, subject, text });
    }
  }
  return found;
}

const noMail = [{ reason: "it is no mail", mayBeMail: false }];
const headers = "Subject: s\nFrom: a@b.example\n";

test("a data file of Outlook is refused as mail, with what to do", async () => {
  const reason = expect.stringMatching(
    /^it is a data file of Outlook \(\.pst, \.ost\); make \.eml files of it with readpst -e/,
  );
  expect(await read("!BDN....")).toEqual([{ reason, mayBeMail: true }]);
  expect(await read("..!BDN..")).toEqual(noMail);
});

const ole = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
const stream = "_\0_\0s\0u\0b\0s\0t\0g\x001\0";

test.each([
  [ole, "a.msg"],
  [ole, "a.MSG"],
  [`${ole}...${stream}`, "a"],
])("%j as %s is a mail of Outlook", async (content, name) => {
  const reason = expect.stringMatching(
    /^it is a mail of Outlook \(\.msg\); open it in the new Outlook and choose "Download as EML"$/,
  );
  expect(await read(content, name)).toEqual([{ reason, mayBeMail: true }]);
});

test.each([
  [ole, "a.doc"],
  [ole, "a.msg.doc"],
  [`x${ole}${stream}`, "a.msg"],
  ["words", "a.msg"],
  [`Subject: s\nX-Any: a\n\nHi`, "a"],
  [`Any words\n${headers}\nHi`, "a"],
  [`Subject: s\n\n${headers}`, "a"],
  [`${headers}one\ntwo\n\nHi`, "a.txt"],
  [`${headers}\nHi`.replace("From: ", "From "), "a.eml.txt"],
  ["12 letters\nSubject: s", "a"],
  ["12\nno header", "a"],
  ["12345678901\nSubject: s", "a"],
])("%j as %s is no mail", async (content, name) => {
  expect(await read(content, name)).toEqual(noMail);
});

test("an input file is named as one, and an empty file as empty", async () => {
  const record = '{"id":"1","date":"","from":"","subject":"","snippet":""}';
  const reason = "it is an input file; triage it without an import";
  expect(await read(`[${record}]`)).toEqual([{ reason, mayBeMail: false }]);
  expect(await read(record)).toEqual([{ reason, mayBeMail: false }]);
  expect(await read(`A text of ${record}`)).toEqual(noMail);
  for (const empty of ["", "\n \r\n", "\xef\xbb\xbf"]) {
    expect(await read(empty)).toEqual([{ reason: "it is empty", mayBeMail: false }]);
  }
});

const mail = { name: "a", length: expect.any(Number) as number, subject: "s", text: "Hi" };

test.each([
  `${headers}\nHi`,
  `${headers}\nHi`.replaceAll("\n", "\r\n"),
  `\xef\xbb\xbf\r\n \t\n${headers}\nHi`,
  `X-Any: a\n folded\n\tagain\n${headers}\nHi`,
  `X-Any: a\n>From a@b.example Mon\n${headers}\nHi`,
  `${headers}X-One: a\nX-Two: b\nbroken\n\nHi`,
  `${headers}\nHi`.toLowerCase().replace("hi", "Hi"),
  `Subject : s\nFrom\t: a@b.example\n\nHi`,
])("%j is a mail", async (content) => {
  expect(await read(content)).toEqual([mail]);
});

test.each(
  "From To Cc Date Received Return-Path Delivered-To Message-ID MIME-Version Reply-To Content-Type".split(
    " ",
  ),
)("a subject and the header %s make a mail", async (name) => {
  const [found] = await read(`Subject: s\n${name}: text/plain\n\nHi`);
  expect(found).toMatchObject({ subject: "s" });
  expect(await read(`Subject: s\nX-${name}: text/plain\n\nHi`)).toEqual(noMail);
});

test("an .emlx file may have blanks before its first colon", async () => {
  expect(await read("15\nSubject : s\n\nHi")).toEqual([mail]);
});

test.each(["a.eml", "a.EML", "a.emlx"])(
  "a file named %s is a mail, if it has a header",
  async (name) => {
    expect(await read("Subject: s\n\nHi", name)).toEqual([{ ...mail, name }]);
    await expect(read("No header here.\n\nHi", name)).rejects.toThrow("it has no header");
  },
);

test.each([" \n", "\n", "\r\n", "\t \n"])(
  "of a file of Apple Mail the message alone is read, after a length that ends with %j",
  async (end) => {
    const message = "Subject: s\n\nHi";
    const whole = [{ ...mail, length: message.length }];
    expect(await read(`${message.length}${end}${message}<plist>`)).toEqual(whole);
    expect(await read(`${message.length + 1}${end}${message}`)).toEqual(whole);
  },
);

test("of a mail larger than what is kept the start is read", async () => {
  const ofLength = (length: number) => `${headers}\nHi${" ".repeat(length)}`.slice(0, length);
  expect(await read(ofLength(MESSAGE_BYTES))).toEqual([mail]);
  expect(await read(ofLength(MESSAGE_BYTES + 1))).toEqual([{ ...mail, length: MESSAGE_BYTES }]);
});

const message = (field: string) =>
  `[{"id":"1",${field},"snippet":"Hi","payload2":{},"payload":{"headers":[{"name":"Subject","value":"s"}]}}]`;

test.each([
  message('"a":1'),
  message('"labelIds":["INBOX"]').slice(1, -1),
  Buffer.from(`\uFEFF${message('"a":1')}`, "utf16le")
    .toString("latin1")
    .slice(2),
])("%j is a Gmail API dump, also in an archive", async (content) => {
  const found = [{ ...mail, length: undefined, name: "message 1" }];
  expect(await read(content)).toEqual(found);
  expect(await read(content, "a", { diskPath: null })).toEqual(found);
});

test.each(['"labelIds":[]', '"internalDate":"0"', '"payload":{}', '"raw" : "U3ViamVjdDogcwoKSGk"'])(
  "a record with %s is of the Gmail API",
  async (field) => {
    const [found] = await read(`[{"id":"1",${field}}]`, "a", { diskPath: null });
    expect(found).toMatchObject({ name: "message 1" });
  },
);

test("JSON of another kind is no mail, and as the source itself is told what is wrong with it", async () => {
  expect(await read('[{"a":1}]', "a", { diskPath: null })).toEqual(noMail);
  expect(await read('[{"a":1}]', "a", { prefix: "b/a: " })).toEqual(noMail);
  await expect(read('[{"a":1}]')).rejects.toThrow("it is not a message of the Gmail API");
  expect(await read("[]")).toEqual([{ reason: "it has no mails", mayBeMail: false }]);
});

test("an mbox is read as one, also after a byte order mark; one without mails is named", async () => {
  const separator = "From a@b.example Mon Nov  2 09:00:00 2026\n";
  const found = [{ ...mail, name: "message 1" }];
  expect(await read(`${separator}${headers}\nHi`)).toEqual(found);
  expect(await read(`\xef\xbb\xbf\n${separator}${headers}\nHi`)).toEqual(found);
  expect(await read(separator)).toEqual([{ reason: "it has no mails", mayBeMail: false }]);
});
