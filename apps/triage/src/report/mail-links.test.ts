import { expect, test } from "vitest";
import type { Mail } from "../input/mail-schema.ts";
import { sampleMail } from "../testing/samples.ts";
import { linkTo } from "./mail-links.ts";

const headers = { messageId: "a'<&#%?/\"b@x.example".replace(/[<"]/g, "") };
const link = (fields: Partial<Mail>, program: Parameters<typeof linkTo>[1] = null) =>
  linkTo(sampleMail(fields), program)?.href;
const accountOf = (account: string) =>
  ({ account, folder: "INBOX" }) as unknown as NonNullable<Mail["source"]>;

test("a link names the mail by its Message-ID in each program", () => {
  const id = "a'%26%23%25%3F%2Fb%40x.example";
  expect(link({ headers }, "mid")).toBe(`mid:${id}`);
  expect(link({ headers }, "message")).toBe(`message://%3C${id}%3E`);
  const from = "Ada <ada@x.example>";
  expect(link({ headers, from, subject: 'a "b" & c' }, "outlook")).toBe(
    "https://outlook.office.com/mail/deeplink/search?query=from%3Aada%40x.example%20subject%3A%22a%20%20b%20%20%26%20c%22",
  );
  expect(link({ headers }, "gmail")).toBe(
    `https://mail.google.com/mail/#search/rfc822msgid%3A${id}`,
  );
});

test("the account's host chooses the program", () => {
  const programOf = (account: string) =>
    link({ headers, source: accountOf(account) })?.slice(0, 61);
  expect(programOf("ada@imap.gmail.com")).toContain("/mail/u/?authuser=ada");
  expect(programOf("ada@gmail.com@imap.gmail.com")).toContain("authuser=ada%40gmail.com#");
  expect(programOf("ada@outlook.office365.com")).toContain("https://outlook.office.com/");
  expect(programOf("ada@imap.mail.me.com")).toContain("message://");
  expect(programOf("ada@imap.home.example")).toContain("mid:");
});

test("a mail of an export that is not of Gmail, or without an id, has no link", () => {
  expect(link({ headers, source: { file: "a.mbox" } })).toBeUndefined();
  expect(link({ id: "7" }, "mid")).toBeUndefined();
  expect(link({ id: "7" })).toBeUndefined();
  expect(link({ id: "18c0ffee18c0ffee" })).toBe(
    "https://mail.google.com/mail/#all/18c0ffee18c0ffee",
  );
});
