import { expect, test } from "vitest";
import { redactor } from "./redactor.ts";

test("replaces every secret, the longer before the one inside it", () => {
  const redact = redactor(["key", "key-of-two", ""]);
  expect(redact("key-of-two, key, key")).toBe("[secret], [secret], [secret]");
});
