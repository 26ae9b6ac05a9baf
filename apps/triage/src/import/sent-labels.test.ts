import { expect, test } from "vitest";
import { dateHeader, importOf, mbox } from "../testing/import-of.ts";
import { onlySentRule } from "./sent-labels.ts";

const isOnlySent = onlySentRule();

test.each([
  [["SENT"], true],
  [["Sent", "Opened"], true],
  [["Gesendet", "Geöffnet"], true],
  [["Messages envoye\u0301s"], true],
  [["寄件備份"], true],
  [[" SENT ", ""], true],
  [["", " "], false],
  [["Sent", "Inbox"], false],
  [["Archived"], false],
  [["Sent", "Family"], false],
  [[], false],
  [null, false],
])("a mail labelled %j carries only the sent label: %s", (labels, expected) => {
  expect(isOnlySent(labels)).toBe(expected);
});

test("--sent-label names it in a language that is not known", async () => {
  const mail = (label: string) => `${dateHeader}\nX-Gmail-Labels: ${label}\n\nHi`;
  const files = { "a.mbox": mbox(mail("Poslano"), mail("Sent"), mail("Prejeto")) };
  const { mails } = await importOf(files, "a.mbox", "--sent-label", "poslano");
  expect(mails).toHaveLength(1);
});

test("drops what carries only the sent label, in Takeout's header, and keeps what was also received", async () => {
  const labelled = (labels: string) =>
    `${dateHeader}\nX-Gmail-Labels: ${labels}\nSubject: ${labels}\n\nHi`;
  const { mails, stderr } = await importOf({
    "All mail.mbox": mbox(
      labelled("Sent,Opened"),
      labelled("Inbox,Sent"),
      labelled("=?UTF-8?Q?Gesendet?="),
      labelled("Archived"),
    ),
  });
  expect(mails?.map(({ subject }) => subject)).toEqual(["Inbox,Sent", "Archived"]);
  expect(stderr).toContain("left out 2 with only the sent label and 0 broken");
});
