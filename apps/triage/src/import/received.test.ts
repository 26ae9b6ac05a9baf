import { expect, test } from "vitest";
import { importOf, mbox } from "../testing/import-of.ts";

const receivedBy = (time: string) => `Received: from a by b; ${time}\n`;

test.each([
  [
    "its last Received",
    `${receivedBy("Tue, 03 Nov 2026 00:30:00 +0100")}${receivedBy("Sun, 01 Nov 2026 09:00:00 +0000")}`,
    "2026-11-02T23:30:00.000Z",
  ],
  ...[
    "from a (a) by x.b.example with IMAP (fetchmail-6.4.37)\n\tfor <a@b> (single-drop)",
    "from a (a:993) by x.b.example with POP3-SSL getmail6\n  msgid:1/1",
  ].map((fetched) => [
    "its delivery, before a program fetched it",
    `Received: ${fetched}; Sat, 28 Nov 2026 09:00:00 +0000\n${receivedBy("Sun, 01 Nov 2026 09:00:00 +0000").replace("from a", "from a (sent with IMAP)")}`,
    "2026-11-01T09:00:00.000Z",
  ]),
  ["the separator", "", "2026-11-02T09:00:00.000Z"],
  [
    "the separator, beside a Received without a time",
    "Received: by a\n",
    "2026-11-02T09:00:00.000Z",
  ],
])(
  "a mail was received at the time of %s, and its date stays the sender's",
  async (_, head, time) => {
    const message = `${head}Date: Wed, 02 Nov 2033 09:00:00 +0000\nSubject: s\n\nHi`;
    const { mails } = await importOf({ "a.mbox": mbox(message) });
    expect(mails).toMatchObject([{ date: "2033-11-02", received: time }]);
  },
);

test("the moment of a conversion, and the constants of programs, are no time of delivery", async () => {
  const separated = (...times: string[]) =>
    times
      .map(
        (time, at) =>
          `From a@b.example ${time}\nDate: Fri, ${at + 1} Mar 2024 10:00:00 +0000\nSubject: s\n\nHi\n\n`,
      )
      .join("");
  const receivedOf = async (...times: string[]) =>
    (await importOf({ "a.mbox": separated(...times) })).mails?.map(({ received }) =>
      received?.slice(11, 19),
    );
  const [one, next, hour] = [
    "Sat Nov 28 15:19:48 2026",
    "Sat Nov 28 15:19:49 2026",
    "Sat Nov 28 16:19:49 2026",
  ];
  expect(await receivedOf(one, one, one)).toEqual([undefined, undefined, undefined]);
  expect(await receivedOf(one, next, hour)).toEqual([undefined, undefined, "16:19:49"]);
  expect(await receivedOf(one, hour)).toEqual(["15:19:48", "16:19:49"]);
  const constants = [
    "Mon Sep 17 00:00:00 2001",
    "Thu Jan  1 00:00:00 1970",
    "Mon Jan  1 12:34:56 1970",
  ];
  expect(await receivedOf(...constants, one)).toEqual([
    undefined,
    undefined,
    undefined,
    "15:19:48",
  ]);
});

test("a mail that does not say when it was received has a date alone", async () => {
  const { mails } = await importOf({
    "a.eml": "Date: Mon, 02 Nov 2026 09:00:00 +0000\nSubject: s\n\nHi",
  });
  expect(mails?.[0]).toMatchObject({ date: "2026-11-02" });
  expect(mails?.[0]).not.toHaveProperty("received");
});

test("a message of the Gmail API was received when its header says, else when Gmail took it", async () => {
  const message = (id: string, headers: object[]) => {
    return {
      id,
      internalDate: "1793610000000",
      payload: { headers: [...headers, { name: "Subject", value: "s" }] },
    };
  };
  const top = { name: "Received", value: "by a; Tue, 03 Nov 2026 10:00:00 +0100" };
  const raw = Buffer.from(`${receivedBy("Wed, 04 Nov 2026 09:00:00 +0000")}Subject: s\n\nHi`);
  const dump = [
    message("a", [top]),
    message("b", []),
    { id: "c", raw: raw.toString("base64url"), internalDate: "1793610000000" },
  ];
  const { mails } = await importOf({ "dump.json": JSON.stringify(dump) });
  expect(mails?.map(({ received }) => received)).toEqual([
    "2026-11-03T09:00:00.000Z",
    "2026-11-02T09:00:00.000Z",
    "2026-11-04T09:00:00.000Z",
  ]);
});
