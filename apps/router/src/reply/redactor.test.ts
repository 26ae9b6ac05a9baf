import { expect, test } from "vitest";
import { redactor } from "./redactor.ts";

const secrets = ["abcdefab", "abcdefab-the-longer"];

test("replaces every secret, the longer before the one inside it", () => {
  const redact = redactor(secrets);
  expect(redact("abcdefab-the-longer, abcdefab, ab")).toBe("[secret], [secret], ab");
});

test.each([
  ["the start of a key", "key sk-planted-secret-k*** wrong", "key [secret]*** wrong"],
  ["the end of a key", "***t-key-77", "***[secret]"],
  ["start and end", "sk-plant…t-key-77", "[secret]…[secret]"],
  ["a whole key beside a part", "sk-planted-secret-key-77, sk-plant", "[secret], [secret]"],
  ["7 characters of a key", "sk-plan is no key", "sk-plan is no key"],
  ["a part of an address", "localhost:5432 is down", "localhost:5432 is down"],
  ["a whole address", "postgres://me:pw@localhost:5432/db is down", "[secret] is down"],
])("strictly, where services print a part: %s", (_what, text, shown) => {
  const own = ["sk-planted-secret-key-77", "postgres://me:pw@localhost:5432/db"];
  expect(redactor(own).strictly(text)).toBe(shown);
});

test("a text with half a key that is no error stays as it is", () => {
  expect(redactor(["sk-planted-secret-key-77"])("sk-planted-secret")).toBe("sk-planted-secret");
});

test("a value too short for a secret does not tear words apart", () => {
  const redact = redactor(["", "key", "7-signs"]);
  expect(redact("keyboard and 7-signs")).toBe("keyboard and 7-signs");
});

test("replaces a secret each time", () => {
  expect(redactor(secrets)("abcdefab, abcdefab")).toBe("[secret], [secret]");
});

test.each(["sk-planted-secret-key-77", "aaaaaaaab", "abcabcabcabd"])(
  "in pieces: of %s nothing comes out, wherever it is cut",
  (secret) => {
    for (let cut = 1; cut < secret.length; cut += 1) {
      const redacting = redactor([secret]).inPieces();
      expect(redacting.add(`x ${secret.slice(0, cut)}`)).toBe("x ");
      expect(redacting.add(`${secret.slice(cut)} y`) + redacting.end()).toBe("[secret] y");
    }
    const byCharacter = redactor([secret]).inPieces();
    const shown = `x ${secret} y`.split("").map((character) => byCharacter.add(character));
    expect(shown.join("") + byCharacter.end()).toBe("x [secret] y");
  },
);

test.each([
  ["plain text comes at once", ["Hel", "lo!"], ["Hel", "lo!", ""]],
  ["a secret over two pieces", ["x abcd", "efab y"], ["x ", "[secret] y", ""]],
  ["the start of a secret that goes on otherwise", ["x abcd", "xyz"], ["x ", "abcdxyz", ""]],
  ["the start of a secret at the end", ["x abcd"], ["x ", "abcd"]],
  ["a whole secret at the end", ["abcdefab"], ["", "[secret]"]],
  ["a secret that ends as it begins", ["abcdefab."], ["[secret].", ""]],
  ["its own end, which begins another", ["abcdefabc", "x"], ["[secret]c", "x", ""]],
  ["the longer of two", ["abcdefab", "-the-longer"], ["", "[secret]", ""]],
  ["the shorter of two", ["abcdefab", "-then"], ["", "[secret]-then", ""]],
])("in pieces: %s", (_what, pieces, shown) => {
  const redacting = redactor(secrets).inPieces();
  expect([...pieces.map((piece) => redacting.add(piece)), redacting.end()]).toEqual(shown);
});
