import { expect, test } from "vitest";
import { composeReply, type ReplyShape } from "./text-reply.ts";

function replyTo(prompt: unknown, wanted: Partial<ReplyShape> = {}) {
  const shape = { tools: [], toolChoice: "auto", isParallel: true, json: null, ...wanted } as const;
  return composeReply(prompt, shape, () => "1");
}

test("names its origin and repeats the question", () => {
  expect(replyTo([{ role: "user", content: "  Why? " }])?.text).toBe(
    'This reply comes from the local emulator, not from a language model. You asked: "Why?"',
  );
});

test("shortens a long question, never inside a character", () => {
  const { text } = replyTo([{ role: "user", content: "🙂".repeat(300) }]) ?? {};
  expect(text).toContain(`"${"🙂".repeat(200)}…"`);
});

test("the question is the last user message, its text parts only", () => {
  const prompt = [
    { role: "system", content: "Be brief." },
    { role: "user", content: [{ type: "text", text: "first" }] },
    { role: "assistant", content: [{ type: "text", text: "reply" }] },
    {
      role: "user",
      content: [
        { type: "text", text: "second" },
        { type: "file", data: {} },
      ],
    },
  ];
  expect(replyTo(prompt)).toMatchObject({
    text: expect.stringMatching(/You asked: "second"$/),
    // All text of the prompt, four bytes each.
    inputTokens: Math.ceil("Be brief.\nfirst\nreply\nsecond".length / 4),
  });
});

test("reminders of a coding agent are no question, and do not hide results", () => {
  const reminder = { role: "user", content: "<system-reminder>\nUse look.\n</system-reminder>" };
  const asked = { role: "user", content: `${reminder.content}\nhello` };
  const tools = [tool("look")];
  expect(replyTo([asked, reminder], { tools })?.text).toMatch(/You asked: "hello"$/);
  const results = [{ role: "tool", content: "seen" }, reminder];
  expect(replyTo([asked, ...results], { tools })?.text).toMatch(/The tools answered: "seen"$/);
});

test.each([[undefined], ["text"], [[]], [[{ role: 1 }]]])("%j is no prompt", (prompt) => {
  expect(replyTo(prompt)).toBeNull();
});

const message = { role: "user", content: "Book 2 seats in Oslo at noon, not a sad film" };

/** JSON of the schema, made of the message. */
function filled(schema: object): string {
  return replyTo([message], { json: { ...schema } })?.text ?? "";
}

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
  [{ properties: { a: null } }, { a: null }],
])("%j is filled with %j", (schema, value) => {
  expect(JSON.parse(filled(schema))).toEqual(value);
});

test("a schema that is itself, ten times over, ends", () => {
  const names = Array.from({ length: 10 }, (_, index) => `p${index}`);
  const properties = Object.fromEntries(names.map((name) => [name, { $ref: "#" }]));
  expect(filled({ type: "object", properties }).length).toBeLessThan(1_000_000);
});

test("keys such as __proto__ are ordinary", () => {
  const schema = JSON.parse('{"properties":{"__proto__":{"type":"number"}}}') as object;
  expect(filled(schema)).toBe('{"__proto__":2}');
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
  expect(replyTo([message], wanted)?.calls.map(({ name }) => name)).toEqual(names);
});

test("a schema that only the instructions have is filled too", () => {
  const schema = JSON.stringify({ properties: { seats: { type: "number" } } });
  const instructions = { role: "system", content: `Answer in JSON.\n json schema: ${schema}\n` };
  expect(replyTo([instructions, message])?.text).toBe('{"seats":2}');
  expect(replyTo([instructions, message], { json: {} })?.text).toBe('{"seats":2}');
  const broken = { role: "system", content: "json schema: {seats}" };
  expect(replyTo([broken, message])?.text).toContain("You asked");
});
