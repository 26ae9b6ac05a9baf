import { expect, test } from "vitest";
import { dateHeader, importOf } from "../testing/import-of.ts";

const gmail = {
  id: "18c",
  labelIds: ["INBOX", "UNREAD"],
  snippet: "Tom &amp; Ann&#39;s card ending in 1234",
  internalDate: "1793610000000",
  payload: {
    headers: [
      { name: "FROM", value: "Ada <a@b.example>" },
      { name: "Subject", value: "=?utf-8?Q?H=C3=BC?=" },
    ],
  },
};
const sentOnly = { ...gmail, id: "18d", labelIds: ["SENT"] };

test.each([
  ["an array", JSON.stringify([gmail, sentOnly], null, 1)],
  ["an object of messages", JSON.stringify({ messages: [gmail, sentOnly] })],
  [
    "an indented object of messages",
    JSON.stringify({ next: 1, messages: [gmail, sentOnly] }, null, 2),
  ],
  ["one a line", `${JSON.stringify(gmail)}\n${JSON.stringify(sentOnly)}\n`],
])("reads a Gmail API dump: %s", async (_, dump) => {
  const { mails, stderr } = await importOf({ "dump.json": dump });
  expect(mails).toEqual([
    {
      id: "18c",
      date: "2026-11-02",
      from: "Ada <a@b.example>",
      subject: "Hü",
      snippet: "Tom & Ann's card ending in",
      source: { file: "dump.json", gmail: true },
      received: "2026-11-02T09:00:00.000Z",
    },
  ]);
  expect(stderr).toContain("left out 1 with only the sent label");
});

test("reads raw Gmail messages, and names what is none", async () => {
  const raw = Buffer.from(`${dateHeader}\nSubject: raw\n\nHi`).toString("base64url");
  const { mails, stderr } = await importOf({
    "dump.json": JSON.stringify([{ id: "1", raw }, { no: 1 }]),
  });
  expect(mails).toMatchObject([{ id: "1", subject: "raw", snippet: "Hi", date: "2026-11-02" }]);
  expect(stderr).toContain("Broken: message 2: it is not a message of the Gmail API");
});

const message = (fields: object) => ({ ...gmail, internalDate: undefined, ...fields });
const dated = (value: string) => ({ payload: { headers: [{ name: "Date", value }] } });

test.each([
  ["its Date header where it has no internalDate", message(dated("1 Oct 2026 09:00:00 +0000"))],
  [
    "its Date header where its internalDate is no time",
    message({ internalDate: "soon", ...dated("1 Oct 2026 09:00:00 +0000") }),
  ],
  [
    "its Date header where it has both",
    message({ internalDate: Date.UTC(2026, 9, 2), ...dated("1 Oct 2026 23:30:00 -0800") }),
  ],
  ["its internalDate, a number too", message({ internalDate: Date.UTC(2026, 9, 1) })],
])("the day of a Gmail message is %s", async (_, json) => {
  const { mails, stderr } = await importOf({ "dump.json": JSON.stringify([json]) });
  expect(mails).toMatchObject([{ date: "2026-10-01" }]);
  expect(stderr).not.toContain("the day is");
});

test.each([
  [{ id: "1", labelIds: ["INBOX"] }, "it has no sender, subject or text"],
  [
    { id: "1", payload: { headers: [{ name: "Subject", value: "\u2800\u3164" }] } },
    "it has no sender, subject or text",
  ],
  [{ id: "1", threadId: "1" }, "it is an id alone; get the message with users.messages.get"],
])("a message without content is named: %j", async (json, reason) => {
  const { mails, stderr, exitCode } = await importOf({
    "dump.json": JSON.stringify([json, gmail]),
  });
  expect([mails?.length, exitCode]).toEqual([1, 2]);
  expect(stderr).toContain(`Broken: message 1: ${reason}`);
});

test.each([
  ["an array", JSON.stringify([{ id: "t", messages: [gmail, gmail] }])],
  [
    "one a line",
    `${JSON.stringify({ id: "t", messages: [gmail] })}\n${JSON.stringify({ id: "u", messages: [gmail] })}\n`,
  ],
  ["an object", JSON.stringify({ threads: [{ id: "t", messages: [gmail, gmail] }] })],
])("threads are read as their mails: %s", async (_, dump) => {
  const { mails } = await importOf({ "dump.json": dump });
  expect(mails).toHaveLength(2);
});

test("a record of a Gmail API dump that is no JSON is named, and the next read", async () => {
  const lines = [JSON.stringify(gmail), '{"id": "1", "payload": }', JSON.stringify(gmail)];
  const { mails, stderr, exitCode } = await importOf({ "dump.json": lines.join("\n") });
  expect([mails?.length, exitCode]).toEqual([2, 2]);
  expect(stderr).toContain("Broken: message 2: it is not JSON; check line 2");
});
