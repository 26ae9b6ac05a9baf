import { expect, test } from "vitest";
import { planSync } from "./sync-folder.ts";

const known = {
  account: "imaps://ada@b.example",
  folder: "INBOX",
  uidvalidity: 7,
  uidnext: 20,
  highestmodseq: "9",
  since: null,
};
const box = { uidValidity: 7n, uidNext: 20, exists: 3 };

test.each([
  ["the first time", null, box, null, { isOther: true, isWhole: true, first: 1 }],
  ["nothing new", known, box, null, { isOther: false, isWhole: false, first: null }],
  ["one new mail", known, { ...box, uidNext: 21 }, null, { isWhole: false, first: 20 }],
  ["new mails", known, { ...box, uidNext: 22 }, null, { isWhole: false, first: 20 }],
  ["no UIDNEXT", known, { uidValidity: 7n, exists: 3 }, null, { isWhole: false, first: 20 }],
  ["a cut first read", { ...known, uidnext: null }, box, null, { isOther: false, first: 1 }],
  ["another UIDVALIDITY", known, { ...box, uidValidity: 8n }, null, { isOther: true, first: 1 }],
  ["another day", known, box, "2026-11-02", { isOther: false, isWhole: true, first: 1 }],
])("which UIDs are read: %s", (_, before, now, since, plan) => {
  expect(planSync(before, now, since)).toMatchObject(plan);
});
