import { expect, test } from "vitest";
import { importOf, mbox } from "../testing/import-of.ts";

const receivedBy = (time: string) => `Received: from a by b; ${time}\n`;

test.each([
  [
    "its last Received",
    `${receivedBy("Tue, 03 Nov 2026 00:30:00 +0100")}${receivedBy("Sun, 01 Nov 2026 09:00:00 +0000")}`,
    "2026-11-02T23:30:00.000Z",
  ],
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
