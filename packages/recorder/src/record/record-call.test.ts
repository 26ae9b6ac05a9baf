import { expect, test } from "vitest";
import { findSecretIn } from "./record-call.ts";

// Written in pieces, so that this file holds nothing like a key either.
const prefixed = ["s", "k-abcdefghijklmnop"].join("");
const keyHeader = ["author", "ization"].join("");
const body = { answers: { tier: { choice: "nano" } }, generationId: "gen_recorded0001" };

test.each([
  ["a header", { headers: { "retry-after": prefixed } }, 'response.headers["retry-after"]'],
  ["a value", { body: { a: [{ b: `x ${prefixed}` }] } }, "response.body.a[].b"],
  ["the name of a field", { body: { [prefixed]: 1 } }, 'response.body["…"]'],
])("finds a key in %s", (_place, change, path) => {
  const found = findSecretIn({ status: 200, headers: {}, body, ...change });
  expect(found).toBe(`a prefixed key in ${path}`);
});

test.each([
  ["a field named like a header that carries a key", { [keyHeader]: "x" }],
  ["JSON within JSON", { echo: JSON.stringify({ [keyHeader]: "x" }) }],
])("finds %s", (_what, body) => {
  const found = findSecretIn({ status: 200, headers: {}, body });
  expect(found).toMatch(/^a header that carries a key/);
});

test("finds nothing in a plain answer", () => {
  const headers = { "content-type": "application/json" };
  expect(findSecretIn({ status: 200, headers, body })).toBeNull();
});
