import { expect, test } from "vitest";
import { dateHeader, importOf, mbox } from "../testing/import-of.ts";
import labels from "./gmail-labels.json" with { type: "json" };
import { onlySentRule } from "./sent-labels.ts";

const isOnlySent = onlySentRule();

test.each([
  [["SENT"], true],
  [["Sent", "Opened"], true],
  [["Gesendet", "Geöffnet"], true],
  [["Messages envoye\u0301s"], true],
  [["寄件備份"], true],
  [["Envoyé", "Archivés"], true],
  [["Messages envoyés", "Ouvert", "Catégorie\u00a0: E-mails personnels"], true],
  [["Gesendet", 'Kategorie: "Neuigkeiten"', "Ungelesen"], true],
  [["보낸편지함", "카테고리 업데이트", "열림"], true],
  [["Odeslané", "Archivováno", "Kategorie: Sociální sítě", "Nepřečtené"], true],
  [["Saadetud kirjad"], true],
  [["Sent", "Kategorienbaum"], false],
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

test("no label is in two lists, and each source of the lists is explained", () => {
  const { about, ...lists } = labels;
  const names = (list: object): string[] =>
    Object.values(list).flatMap((value) =>
      Array.isArray(value)
        ? value.map((name) => String(name).normalize().toLowerCase())
        : names(value as object),
    );
  const [sent = [], ...others] = Object.values(lists).map(names);
  expect(sent.length).toBeGreaterThan(100);
  expect(sent.filter((name) => others.flat().includes(name))).toEqual([]);
  const sources = Object.values(lists).flatMap((list) => Object.keys(list));
  expect([...new Set(sources)].toSorted()).toEqual(Object.keys(about).toSorted());
});

test("--sent-label names it in a language that is not known", async () => {
  const mail = (label: string) => `${dateHeader}\nX-Gmail-Labels: ${label}\n\nHi`;
  const files = { "a.mbox": mbox(mail("Odposlana pisma"), mail("Sent"), mail("Prejeto")) };
  const { mails } = await importOf(files, "a.mbox", "--sent-label", "odposlana pisma");
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
