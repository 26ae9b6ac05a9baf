import { expect, test } from "vitest";
import { contentText } from "./content.ts";

test.each([
  ["plain", "plain"],
  [{ from: "a", nested: [{ deep: "b" }, 3, null, true], last: "c" }, "a\nb\n3\nc"],
  [["x", ["y"]], "x\ny"],
  [null, ""],
])("the text of %j", (content, text) => {
  expect(contentText(content)).toBe(text);
});

test("a very long list is no trouble", () => {
  expect(contentText(Array.from({ length: 500_000 }, () => "a"))).toHaveLength(999_999);
});
