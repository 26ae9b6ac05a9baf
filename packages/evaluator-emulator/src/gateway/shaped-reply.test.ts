import { expect, test } from "vitest";
import { chooseCalls, fillSchema, type ReplyShape } from "./shaped-reply.ts";

const material = { message: "Book 2 seats at noon, not a sad film", hints: ["Oslo"] };
const shape: ReplyShape = { tools: [], toolChoice: "auto", isParallel: true, json: null };
const nextId = () => "1";
const tool = (name: string, description = "") => ({ name, description, schema: {} });

test.each([
  [{ type: "string" }, "Oslo"],
  [{ type: ["string", "null"], maxLength: 2 }, "Os"],
  [{ type: "integer", minimum: 3 }, 3],
  [{ type: "number" }, 2],
  [{ type: "boolean" }, false],
  [{ enum: ["glad", "sad"] }, "sad"],
  [{ const: 7 }, 7],
  [{ type: "array", items: { type: "number" }, minItems: 2 }, [2, 0]],
  [{ anyOf: [{ type: "null" }, { type: "number" }] }, 2],
  [{ $ref: "#/$defs/day", $defs: { day: { type: "string", format: "date" } } }, "2026-01-01"],
  [{ properties: { a: { type: "number" }, b: {} }, required: ["a"] }, { a: 2 }],
  [null, null],
])("%j is filled with %j", (schema, value) => {
  expect(fillSchema(schema, material)).toEqual(value);
});

test("a schema that is itself, ten times over, ends", () => {
  const names = Array.from({ length: 10 }, (_, index) => `p${index}`);
  const properties = Object.fromEntries(names.map((name) => [name, { $ref: "#" }]));
  const filled = JSON.stringify(fillSchema({ type: "object", properties }, material));
  expect(filled.length).toBeLessThan(1_000_000);
});

test("keys such as __proto__ are ordinary", () => {
  const schema: unknown = JSON.parse('{"properties":{"__proto__":{"type":"number"}}}');
  expect(JSON.stringify(fillSchema(schema, material))).toBe('{"__proto__":2}');
});

test.each([
  ["the one whose name is said", { tools: [tool("get_time"), tool("book_seats")] }, ["book_seats"]],
  ["else whose description is", { tools: [tool("a", "a film"), tool("b", "x")] }, ["a"]],
  ["none without a shared word", { tools: [tool("get_time")] }, []],
  ["the best where one must be", { tools: [tool("x")], toolChoice: "required" as const }, ["x"]],
  ["the named one", { tools: [tool("x"), tool("y")], toolChoice: { name: "y" } }, ["y"]],
  ["none where none may be", { tools: [tool("book")], toolChoice: "none" as const }, []],
  [
    "one where several may not",
    { tools: [tool("book"), tool("film")], isParallel: false },
    ["book"],
  ],
])("of tools it calls %s", (_which, wanted, names) => {
  const calls = chooseCalls(material.message, { ...shape, ...wanted }, nextId);
  expect(calls.map(({ name }) => name)).toEqual(names);
});
