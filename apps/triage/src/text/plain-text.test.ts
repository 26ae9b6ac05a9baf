import { expect, test } from "vitest";
import { plainText } from "./plain-text.ts";

test.each([
  ["colours", "a \u001b[31mred\u001b[0m b", "a red b"],
  ["a window title", "\u001b]0;owned\u0007subject", "subject"],
  ["a hidden link", "\u001b]8;;http://evil.example\u0007click\u001b]8;;\u0007", "click"],
  ["one-byte escapes", "a\u009b2Jb", "ab"],
  ["an escape that strips into another", "\u001b\u001b[31m[31mx", "[31mx"],
  ["line breaks and tabs", " one\r\ntwo\tthree\u2028four\n", "one two three four"],
  ["other controls", "a\u0000\u0008\u007fb\u0085c", "abc"],
  ["bidi marks", "\u202egnp.exe\u202c \u2067x\u2069\u200e\u061c", "gnp.exe x"],
  ["invisible marks", "pay\u00adpal \ufeffa\u200bb", "paypal ab"],
  ["half a surrogate pair", "a\ud83db", "ab"],
])("takes out %s", (_, text, plain) => {
  expect(plainText(text)).toBe(plain);
});

test.each(["👨‍👩‍👧 at noon", "❤️", "می‌خواهم", "e\u0301", "日本"])("leaves %j whole", (text) => {
  expect(plainText(text)).toBe(text);
});
