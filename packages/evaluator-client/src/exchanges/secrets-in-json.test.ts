import { expect, test } from "vitest";
import { findSecretIn, pathText } from "./secrets-in-json.ts";

// Written in pieces, so that this file holds nothing like a key either.
const prefixed = ["s", "k-abcdefghijklmnop"].join("");
const keyHeader = ["author", "ization"].join("");
const body = { answers: { tier: { choice: "nano" } }, generationId: "gen_recorded0001" };

test.each([
  ["a header", { headers: { "retry-after": prefixed } }, 'response.headers["retry-after"]'],
  ["a value", { body: { a: [{ b: `x ${prefixed}` }] } }, "response.body.a[].b"],
  ["the name of a field", { body: { [prefixed]: 1 } }, 'response.body["…"]'],
])("finds a key in %s", (_place, change, path) => {
  const found = findSecretIn({ status: 200, headers: {}, body, ...change }, "response");
  expect(found).toBe(`a prefixed key in ${path}`);
});

test.each([
  ["a field named like a header that carries a key", { [keyHeader]: "x" }],
  ["JSON within JSON", { echo: JSON.stringify({ [keyHeader]: "x" }) }],
])("finds %s", (_what, body) => {
  const found = findSecretIn({ status: 200, headers: {}, body }, "response");
  expect(found).toMatch(/^a header that carries a key/);
});

test("finds nothing in a plain answer", () => {
  const headers = { "content-type": "application/json" };
  const picture = `data:image/png;base64,${Buffer.from("q7Rz0VbMx3KfYt9LaWc5HdJ2sUe8").toString("base64")}`;
  const withPicture = { ...body, picture };
  expect(findSecretIn({ status: 200, headers, body: withPicture }, "response")).toBeNull();
});

test.each([
  ["response.body.usage", ["body", "usage"]],
  ["response.warnings[].text", ["warnings", 3, "text"]],
  ['response["content-type"]', ["content-type"]],
  ['response["a \\"quoted\\" id"]', ['a "quoted" id']],
  ['response[""]', [""]],
  ['response["…"]', ["\u001b[31m"]],
  ['response["…"]', ["x".repeat(61)]],
  ['response["…"]', [["s", "k-abcdefghijklmnop"].join("")]],
])("%s", (text, path) => {
  expect(pathText(["response", ...path])).toBe(text);
});
