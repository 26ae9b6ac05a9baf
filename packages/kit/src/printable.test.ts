import { expect, test } from "vitest";
import {
  columnsOf,
  printable,
  toPrintable,
  toPrintablePath,
  truncateCharacters,
  truncateColumns,
  withRest,
} from "./printable.ts";

test.each([
  ["a colour", "\u001b[31mred\u001b[0m", "red"],
  ["a link", "\u001b]8;;https://example.com\u0007here\u001b]8;;\u001b\\", "here"],
  ["a title that never ends", "\u001b]0;title", "0;title"],
  ["a one-byte escape", "\u009b2Jcleared", "cleared"],
  ["a bell and a backspace", "ding\u0007\b!", "ding!"],
  ["a bidi mark", "abc\u202Etxt.exe", "abctxt.exe"],
  ["half a surrogate pair", "a\uD800b", "ab"],
  ["a line break", " two\r\nlines ", "two lines"],
  ["a family", "👨‍👩‍👧 stays", "👨‍👩‍👧 stays"],
  ["a whole title", "\u001b]0;owned\u0007subject", "subject"],
  ["an escape that strips into another", "\u001b\u001b[31m[31mx", "[31mx"],
  ["tabs and line separators", " one\r\ntwo\tthree\u2028four\n", "one two three four"],
  ["other controls", "a\u0000\u0008\u007fb\u0085c", "abc"],
  ["isolates and marks", "\u202egnp.exe\u202c \u2067x\u2069\u200e\u061c", "gnp.exe x"],
  ["invisible marks", "pay\u00adpal \ufeffa\u200bb", "paypal ab"],
  ["a heart", "❤️", "❤️"],
  ["a joiner", "می‌خواهم", "می‌خواهم"],
  ["a combining mark", "e\u0301", "e\u0301"],
])("what is printed has no more of %s than its text", (_what, text, printed) => {
  expect(toPrintable(text)).toBe(printed);
});

test("a path keeps its spaces", () => {
  expect(toPrintablePath(" my  \u001b[1mmails\n.json ")).toBe(" my  mails .json ");
});

test("a value in a message cannot forge a line, its words may break lines", () => {
  expect(printable`Wrote ${"a\nError: b"}\n`).toBe("Wrote a Error: b\n");
});

test.each([
  ["abcdef", 3, "abc"],
  ["ab", 3, "ab"],
  ["", 3, ""],
  ["a🙂🙂b", 2, "a🙂"],
  ["e\u0301e\u0301", 1, "e\u0301"],
  ["🇩🇪🇫🇷", 1, "🇩🇪"],
  ["👨‍👩‍👧👨‍👩‍👧é", 2, "👨‍👩‍👧👨‍👩‍👧"],
])("%s has these first %i characters", (text, limit, kept) => {
  expect(truncateCharacters(text, limit)).toBe(kept);
});

test.each([
  ["a subject", 20, "a subject"],
  ["a subject", 3, "a…"],
  ["a subject", 6, "a sub…"],
  ["日本語の件名", 6, "日本…"],
  ["日本", 4, "日本"],
  ["ab", 0, ""],
])("%s in %i columns is %s", (text, columns, cut) => {
  expect(truncateColumns(text, columns)).toBe(cut);
  expect(columnsOf(cut)).toBeLessThanOrEqual(columns);
});

test.each(["\u001b]a;a;a;", "\u001b[", "\u001b[;", "\u009b0", "\u001b", " ", "\u202E", ";#", "("])(
  "a row of %j takes linear time",
  (piece) => {
    // Quadratic time would be minutes here, and the test's limit a minute.
    expect(toPrintable(piece.repeat(400_000) + "é").endsWith("é")).toBe(true);
  },
);

test.each([
  [["a"], 2, 1, ["a"]],
  [["a", "b", "c"], 2, 3, ["a", "b", "and 1 more"]],
  [["a", "b"], 2, 7, ["a", "b", "and 5 more"]],
])("of the texts %j, %i are shown of %i", (texts, most, count, shown) => {
  expect(withRest(texts, most, count)).toEqual(shown);
});
