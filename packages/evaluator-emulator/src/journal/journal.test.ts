import { expect, test } from "vitest";
import { createJournal } from "./journal.ts";

const request = { startTime: 0, method: "GET", path: "/", model: null, account: null };

test("the latest requests are kept, and go on being counted", () => {
  const journal = createJournal(2);
  for (let call = 0; call < 7; call += 1) journal.add(request);
  expect(journal.list().map(({ number }) => number)).toEqual([6, 7]);
  journal.reset();
  expect(journal.add(request).number).toBe(1);
});
