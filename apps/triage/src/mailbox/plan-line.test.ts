import { expect, test } from "vitest";
import { toMailKey, parseAction } from "./plan-line.ts";

test("mails of two folders, and of two lives of a folder, have two keys", () => {
  const place = { account: "imaps://ada@b.example", folder: "INBOX", uidvalidity: 1, uid: 5 };
  const keys = [
    toMailKey(place),
    toMailKey({ ...place, folder: "Archive" }),
    toMailKey({ ...place, uidvalidity: 2 }),
    toMailKey({ ...place, uid: 6 }),
  ];
  expect(new Set(keys).size).toBe(4);
});

test.each(["\\Deleted", "\\Seen", "two words", "", "a(b"])("%j is no keyword", (name) => {
  expect(parseAction(`keyword ${name}`)).toEqual(expect.any(String));
});
