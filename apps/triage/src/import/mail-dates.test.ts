import { expect, test, vi } from "vitest";
import { parseDay, parseTime } from "./mail-dates.ts";

test.each([
  ["Mon, 02 Mar 126 10:00:00 +0000", "2026-03-02"],
  ["Mon, 02 Mar 26 10:00:00 +0000", "2026-03-02"],
  ["Mon, 02 Mar 99 10:00:00 +0000", "1999-03-02"],
  ["02 Mar 49 10:00 Uhr", "2049-03-02"],
  ["lun., 02 mars 2026 10:00:00 +0100", "2026-03-02"],
  ["Mo, 2. März 2026 10:00", "2026-03-02"],
  ["lunes, 2 de marzo de 2026 10:00", "2026-03-02"],
  ["2 févr. 2026 à 10:00", "2026-02-02"],
  ["pon, 2 lis 2026 10:00", "2026-11-02"],
  ["понедельник, 2 марта 2026 10:00", "2026-03-02"],
  ["02.03.2026 10:00", "2026-03-02"],
  ["Samstag 28-11-2026", "2026-11-28"],
  ["28/11/2026 10:00", "2026-11-28"],
  ["31/02/2026", null],
  ["02/28/2026 10:00", "2026-02-28"],
  ["2 words 2026", null],
  ["10.03.20267", null],
])("the day of %j is %j", (text, day) => {
  expect(parseDay(text)).toBe(day);
});

test("a time with a short year is one of this century", () => {
  expect(parseTime("Mon, 02 Mar 126 10:00:00 +0100")).toBe("2026-03-02T09:00:00.000Z");
  expect(parseTime("02.03.2026 10:00")).toBe("2026-03-02T10:00:00.000Z");
});

test("months of other languages, which take 20 MB, are not looked up for a mail without a date", () => {
  using formatter = vi.spyOn(Intl, "DateTimeFormat");
  expect([parseTime(""), parseTime("soon"), parseDay("")]).toEqual([null, null, null]);
  expect(formatter).not.toHaveBeenCalled();
});
