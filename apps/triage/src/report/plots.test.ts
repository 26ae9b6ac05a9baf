import { expect, test } from "vitest";
import { type ListEntry, MailList } from "./mail-list.ts";
import type { MailRow, ShownQuestion } from "./mail-row.ts";
import { numbersSection } from "./plots.ts";

const importance: ShownQuestion = {
  id: "importance",
  title: "Importance",
  type: "score",
  form: "number",
  names: ["low", "high"],
};

const entry: ListEntry = {
  id: "",
  section: 0,
  weight: 0,
  time: "",
  isOwn: 0,
  isHidden: 0,
  keys: [],
  unsubscribe: "",
  oneClick: 0,
};

/** Returns the numbers of a page about some mails, one a day. */
function numbersOf(mails: number): string {
  using list = new MailList({ sections: [], questions: [importance], score: 0 });
  for (let at = 0; at < mails; at += 1) {
    const day = new Date(at * 86_400_000).toISOString().slice(0, 10);
    const answer = { value: at % 2, confidence: null, printed: null, shares: [] };
    const row = { day, address: "", sender: "a", isNew: false, answers: [answer] };
    list.add(row as Partial<MailRow> as MailRow, entry);
  }
  return String(numbersSection(list, [importance])).replace(/\s+/g, " ");
}

test("a plot over time has a dot for each mail, and says so if it shows 2,000 of more", () => {
  const few = numbersOf(2000);
  expect(few.match(/<circle/g)).toHaveLength(2000);
  expect(few).toContain("Importance over time<small>mails by day</small>");
  const many = numbersOf(4500);
  expect(many.match(/<circle/g)).toHaveLength(2000);
  expect(many).toContain("Importance over time<small>2,000 of 4,500 mails by day</small>");
});
