import { expect, test } from "vitest";
import { malformJson } from "./malform-json.ts";

const reply = { status: 200, headers: {} };

test("a whole body lacks its last character", () => {
  expect(malformJson({ ...reply, body: `{"a":1}` }).body).toBe(`{"a":1`);
});

test("every event of a stream lacks the end of its JSON", () => {
  const body = [`data: {"a":1}\n\n`, "data: [DONE]\n\n"];
  expect(malformJson({ ...reply, body }).body).toEqual([`data: {"a":1\n\n`, "data: [DONE]\n\n"]);
});
