import { expect, test } from "vitest";
import { redactor } from "./redactor.ts";

const secrets = ["abcdefab", "abcdefab-the-longer"];

test("replaces every secret, the longer before the one inside it", () => {
  const redact = redactor(secrets);
  expect(redact("abcdefab-the-longer, abcdefab, ab")).toBe("[secret], [secret], ab");
});

test("a value too short for a secret does not tear words apart", () => {
  const redact = redactor(["", "key", "7-signs"]);
  expect(redact("keyboard and 7-signs")).toBe("keyboard and 7-signs");
});

test.each([
  ["plain text comes at once", ["Hel", "lo!"], ["Hel", "lo!", ""]],
  ["a secret over two pieces", ["x abcd", "efab y"], ["x ", "[secret] y", ""]],
  ["the start of a secret that goes on otherwise", ["x abcd", "xyz"], ["x ", "abcdxyz", ""]],
  ["the start of a secret at the end", ["x abcd"], ["x ", "abcd"]],
  ["a whole secret at the end", ["abcdefab"], ["", "[secret]"]],
  ["a secret that ends as it begins", ["abcdefab."], ["[secret].", ""]],
  ["the longer of two", ["abcdefab", "-the-longer"], ["", "[secret]", ""]],
  ["the shorter of two", ["abcdefab", "-then"], ["", "[secret]-then", ""]],
])("in pieces: %s", (_what, pieces, shown) => {
  const redacting = redactor(secrets).inPieces();
  expect([...pieces.map((piece) => redacting.add(piece)), redacting.end()]).toEqual(shown);
});
