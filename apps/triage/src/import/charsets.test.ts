import { expect, test } from "vitest";
import { decodeHeader, decodeText } from "./charsets.ts";

const bytes = (text: string) => Buffer.from(text, "latin1");
const utf8 = Buffer.from("Grüße aus Köln");

test.each([
  "us-ascii",
  "ANSI_X3.4-1968",
  "unknown-8bit",
  "x-unknown",
  "iso-8859-1",
  "windows-1251",
  "utf8mb4",
  "",
  "utf-16",
])("text that is UTF-8 is read so, labelled %j", (label) => {
  expect(decodeText(utf8, label)).toBe("Grüße aus Köln");
});

test.each([
  ["Gr\xfc\xdfe", "us-ascii", "", "Grüße"],
  ["Gr\xfc\xdfe", "utf-8", "", "Grüße"],
  ["Gr\xc3\xbc\xdfe", "utf-8", "", "Grü\ufffde"],
  ['\x1b$B$"\x1b(B', "us-ascii", "", "あ"],
  ["\xf0\xf2\xe9\xf7\xe5\xf4", "unknown-8bit", "koi8-r", "ПРИВЕТ"],
  ["\xcf\xf0\xe8", "Windows1251", "", "При"],
  ["\xcf\xf0\xe8", "cp-1251", "", "При"],
  ["\xcf\xf0\xe8", ' "windows-1251" ', "", "При"],
  ["\x82\xa0", "cp932", "", "あ"],
  ["\xc1\xaa\xcd\xa8", "gb2312", "", "联通"],
  ['\x1b$B$"\x1b(B', "iso-2022-jp", "", "あ"],
  ["\xe3\x81\x82", "iso-2022-jp", "", "あ"],
  ["\xe3\x81\x82", "euc-jp", "", "あ"],
  ["a\0b\0", "utf-16le", "", "ab"],
  ["Caf\xe9", "iso-8859-15", "", "Café"],
  ["20 \xa4", "iso8859-15", "", "20 €"],
])("%j labelled %j in a mail of %j is %j", (text, label, mailCharset, decoded) => {
  expect(decodeText(bytes(text), label, mailCharset)).toBe(decoded);
});

test("a cut or damaged letter of UTF-8 harms its own place alone", () => {
  const cut = Buffer.concat([Buffer.from("Überweisung für Mär"), bytes("\xc3")]);
  expect(decodeText(cut)).toBe("Überweisung für Mär\ufffd");
  expect(decodeText(bytes("caf\xe9"))).toBe("café");
});

test.each([
  ["=?unknown-8bit?Q?Gr=C3=BC=C3=9Fe?=", "Grüße"],
  ["=?iso-8859-1?Q?Gr\xfc\xdfe?=", "Grüße"],
  ["=?iso-8859-1?Q?Gr=FC\xdfe?= zur\xfcck", "Grüße zurück"],
  ["=?utf-8?Q?Gr=C3=BC=C3?=\r\n =?UTF-8?Q?=9Fe?=", "Grüße"],
  ["=?utf-8?Q?Gr=C3=BC=C3?= =?utf-8?B?n2U=?=", "Grüße"],
  ["=?utf-8*de?Q?Gr=C3=BC=C3=9Fe?=", "Grüße"],
  ["=?utf-8?Q?Gr=C3=BC=DFe?=", "Grü\ufffde"],
  ["=?iso-2022-jp?B?GyRCJCIbKEI=?= =?iso-2022-jp?B?GyRCJCIbKEI=?=", "ああ"],
  ["a =?utf-8?Q?b?= c =?utf-8?Q?d_e?=", "a b c d e"],
  ["no =?word?= here", "no =?word?= here"],
  ["=?utf-8?Q?Gr=C3=BC=C3=9F", "Grüß"],
])("the header %j is %j", (header, decoded) => {
  expect(decodeHeader(header)).toBe(decoded);
});

test("raw letters are in the charset of the mail, those in a Latin word are not", () => {
  expect(decodeHeader("\xf3\xde\xa3\xd4", "koi8-r")).toBe("Счёт");
  expect(decodeHeader("M\xfcll", "koi8-r")).toBe("Müll");
});

test.each(["=?", "=?a?Q?", "=?utf-8?Q?=", "\xff", "=?utf-8?B??= "])(
  "a row of %j takes linear time",
  (piece) => {
    // Quadratic time would be minutes here, and the test's limit is one.
    expect(decodeHeader(piece.repeat(100_000))).toBeTypeOf("string");
  },
);
