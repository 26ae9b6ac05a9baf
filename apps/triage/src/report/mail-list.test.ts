import { inflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import { type ListEntry, MailList } from "./mail-list.ts";
import type { MailRow } from "./mail-row.ts";

const section = { id: "a", title: "A", about: "" };
const some: MailRow = {
  id: "",
  day: "",
  dated: "",
  sender: "",
  address: "",
  isMasked: false,
  subject: "",
  snippet: "",
  isNew: false,
  rule: -1,
  link: null,
  checks: "",
  signs: [],
  location: "",
  answers: null,
  error: "",
};

function entryOf(fields: Partial<ListEntry>): ListEntry {
  const none = { id: "", time: "", isOwn: 0, isHidden: 0, unsubscribe: "", oneClick: 0 };
  return { ...none, section: 0, weight: 0, keys: [], ...fields };
}
const none = { questions: [], score: -1 };

/** Returns the ids of all packed mails. */
function idsIn(list: MailList): string[][] {
  return [...list.packs()].map((pack) => {
    const rows = JSON.parse(String(inflateRawSync(Buffer.from(pack, "base64")))) as MailRow[];
    return rows.map(({ id }) => id);
  });
}

test("mails are sorted by section, then weight, then the newest day, then as they were added", () => {
  using list = new MailList({ sections: [section, section], ...none });
  const add = (id: string, section: number, weight: number, day: string) =>
    list.add({ ...some, id, day }, entryOf({ section, weight }));
  add("last", 1, 9, "2026-03-01");
  add("older", 0, 2, "2026-01-01");
  add("newer", 0, 2, "2026-02-01");
  add("newer too", 0, 2, "2026-02-01");
  add("heavy", 0, 2.5, "2026-01-01");
  list.close();
  expect(list.counts.map(({ mails }) => mails)).toEqual([4, 1]);
  expect(list.first(0, 3).map(({ id }) => id)).toEqual(["heavy", "newer", "newer too"]);
  expect(list.first(1, 3).map(({ id }) => id)).toEqual(["last"]);
  expect(idsIn(list)).toEqual([["heavy", "newer", "newer too", "older", "last"]]);
});

test("senders are counted by address, whatever its case; the one with the most mails is first", () => {
  using list = new MailList({ sections: [section], ...none });
  const senders = [
    { address: "b@x" },
    { address: "C@x" },
    { address: "c@X" },
    { sender: "Nobody" },
    { address: "b@x", sender: "B" },
  ];
  for (const sender of senders) list.add({ ...some, ...sender }, entryOf({}));
  list.close();
  const found = list.senders(9).map(({ sender, mails }) => [sender, mails]);
  expect(found).toEqual([
    ["b@x", 2],
    ["c@x", 2],
    ["nobody", 1],
  ]);
  expect(list.senders(2)).toHaveLength(2);
});

test("each pack but the last is full, and no mail of 30,000 is lost", () => {
  using list = new MailList({ sections: [section], ...none });
  const snippet = "x".repeat(300);
  for (let at = 0; at < 30_001; at += 1) {
    list.add({ ...some, id: `${at}`, snippet }, entryOf({ weight: (at * 7919) % 30_001 }));
  }
  list.close();
  const packs = idsIn(list);
  expect(packs.slice(0, -1).filter(({ length }) => length !== MailList.packSize)).toEqual([]);
  const ids = packs.flat();
  expect(ids.slice(0, 2).map((id) => (Number(id) * 7919) % 30_001)).toEqual([30_000, 29_999]);
  expect(new Set(ids).size).toBe(30_001);
});
