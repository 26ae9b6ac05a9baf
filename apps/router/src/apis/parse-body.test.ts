import { expect, test } from "vitest";
import { z } from "zod";
import { HttpError } from "../http-error.ts";
import { parseBody } from "./parse-body.ts";

const schema = z.object({
  model: z.string(),
  items: z.array(z.union([z.string(), z.object({ inner: z.object({ text: z.string() }) })])),
  any: z.record(z.string(), z.unknown()).nullish(),
});
const body = { model: "m", items: [] };

test("a wrong field is rejected by its path, in the branch of a union that got furthest", () => {
  const parsing = () => parseBody(schema, { ...body, items: ["a", { inner: { text: 1 } }] });
  expect(parsing).toThrow(HttpError);
  expect(parsing).toThrow("This router cannot do this: items.1.inner.text: ");
  expect(parsing).toThrow(
    expect.objectContaining({ status: 400, details: { param: "items.1.inner.text" } }),
  );
  expect(() => parseBody(schema, "hi")).toThrow("cannot do this: the body: ");
});

test("fields that are not read are named once, except for values that ask for nothing", () => {
  const items = [{ inner: { text: "a", "x\r\ny": 1, b: 2 } }, { inner: { text: "a", b: 2 } }];
  const nothing = { c: null, d: false, e: [], f: {} };
  expect(parseBody(schema, { ...body, ...nothing, items, any: { g: { h: 1 } } }).unread).toEqual([
    "items.inner.unprintable",
    "items.inner.b",
  ]);
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index}`, 1]));
  expect(parseBody(schema, { ...body, ...many }).unread.at(-1)).toBe("and-10-more");
});

test("a body nested too deeply is rejected by its path, and __proto__ is an unread field", () => {
  const deep: unknown = JSON.parse(`{"any":${'{"a":'.repeat(10_000)}1${"}".repeat(10_001)}`);
  expect(() => parseBody(schema, { ...body, ...(deep as object) })).toThrow("any.a.a.a");
  const polluting: unknown = JSON.parse('{"model":"m","items":[],"__proto__":{"a":1}}');
  expect(parseBody(schema, polluting).unread).toEqual(["__proto__"]);
  expect(({} as { a?: unknown }).a).toBeUndefined();
});

test("with a list of needed fields, other wrong fields are left out and their first error is kept", () => {
  const wrong = { ...body, any: "hi" };
  const { data, unsupported } = parseBody(schema, wrong, ["model", "items"]);
  expect(data).toEqual(body);
  expect(unsupported?.details).toEqual({ param: "any" });
  expect(parseBody(schema, body, ["model"]).unsupported).toBeNull();
  expect(() => parseBody(schema, { ...wrong, items: 1 }, ["items"])).toThrow("items: ");
  expect(() => parseBody(schema, wrong)).toThrow("any: ");
});

test("a missing field that is not needed is an error all the same", () => {
  expect(() => parseBody(schema, { model: "m" }, ["model"])).toThrow("items: ");
});

const known = z.object({ type: z.literal("a"), text: z.string() });
const lists = z.object({
  lists: z.array(z.union([z.string(), z.array(z.discriminatedUnion("type", [known], "unknown"))])),
});

test("elements of an unknown type are left out, and their first error is kept", () => {
  const a = { type: "a", text: "a" };
  const others = Array.from({ length: 50_000 }, () => ({ type: "b", inner: 1 }));
  const { data, unsupported } = parseBody(lists, { lists: ["a", [a, ...others, a]] });
  expect(data).toEqual({ lists: ["a", [a, a]] });
  expect(unsupported?.details).toEqual({ param: "lists.1.1.type" });
  expect(unsupported?.message).toContain("unknown");
  for (const wrong of [{ type: 1 }, {}, { ...a, text: 1 }, null]) {
    expect(() => parseBody(lists, { lists: [[...others, wrong]] })).toThrow("lists.0.50000");
  }
});
