import { expect, test } from "vitest";
import { mailId, textParts } from "./read-message.ts";

const received = "2026-11-02T09:00:00.000Z";

test("the id of a mail on Gmail is Gmail's number, as its addresses have it", () => {
  const mail = { emailId: "1278455344230334866", messageId: "a@example.com", received };
  expect(mailId(mail)).toBe("11bdfc5cae0c8192");
});

test("elsewhere the id depends on Message-ID, received time and size alone", () => {
  const mail = { messageId: "a@example.com", received, size: 9 };
  expect(mailId({ ...mail, messageId: "<a@example.com>" })).toBe(mailId(mail));
  const others = [{ messageId: "b@example.com" }, { received: undefined }, { size: 8 }];
  const ids = others.map((other) => mailId({ ...mail, ...other }));
  expect(new Set([mailId(mail), ...ids]).size).toBe(4);
});

const leaf = (type: string, part: string, more: object = {}) => ({ type, part, ...more });

test.each([
  ["a mail of one part", { type: "text/plain" }, ["1"]],
  [
    "a calendar, no attachments and no forwarded mail",
    {
      type: "multipart/mixed",
      parameters: { boundary: "b" },
      childNodes: [
        {
          type: "multipart/alternative",
          parameters: { boundary: "c" },
          childNodes: [leaf("text/plain", "1.1"), leaf("text/html", "1.2")],
        },
        leaf("text/plain", "2", { disposition: "ATTACHMENT" }),
        leaf("message/rfc822", "3", { childNodes: [leaf("text/plain", "3.1")] }),
        leaf("text/calendar", "4"),
        leaf("text/plain", "5", { disposition: "inline" }),
      ],
    },
    ["1.1", "1.2", "4", "5"],
  ],
  ["a mail of a page", { type: "TEXT/HTML" }, ["1"]],
  ["a mail of an attachment", { type: "application/pdf" }, []],
  ["no structure", undefined, []],
  ["no parts", { type: "multipart/mixed", parameters: { boundary: "b" } }, []],
  ["no boundary", { type: "multipart/mixed", childNodes: [leaf("text/plain", "1")] }, []],
])("the text parts that are read: %s", (_, structure, parts) => {
  expect(textParts(structure)).toEqual(parts);
});
