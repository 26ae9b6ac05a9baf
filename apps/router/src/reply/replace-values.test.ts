import { expect, test } from "vitest";
import { replaceValues } from "./replace-values.ts";

const own = ' {\n  "seed" : 12345678901234567890, "temperature": 1.0, "top_p": 1e3,';
const nested = '"tools":[{"model":"x","a":"}],\\"model\\":\\"y\\\\"}], "user": "é\\u00e9"';

test.each([
  [`${own} "model" :\t"auto"\n, ${nested}\n}\n`, `${own} "model" :\t"a/b"\n, ${nested}\n}\n`],
  [`{${nested},"model":"auto"}`, `{${nested},"model":"a/b"}`],
  ['{"model":"big","n":1,"n":2,"model":"auto"}', '{"model":"a/b","n":1,"n":2,"model":"a/b"}'],
  ['{"model":"auto","mod\\u0065l":"auto"}', '{"model":"a/b","mod\\u0065l":"a/b"}'],
  ['{"model":"auto","MODEL":"big"}', '{"model":"a/b","MODEL":"a/b"}'],
  ['{"model":{"a":["x"]},"model":[]}', '{"model":"a/b","model":"a/b"}'],
  ['{"model":null,"":"model","__proto__":1}', '{"model":"a/b","":"model","__proto__":1}'],
  ['{"model":"\\\\\\"","a":"model\\\\"}', '{"model":"a/b","a":"model\\\\"}'],
])("of %s only the model is replaced", (json, wanted) => {
  expect(replaceValues(json, { model: "a/b" })).toBe(wanted);
});

test("a value is any JSON, and some of them may be absent", () => {
  const values = { a: { "$&": null }, b: 1 };
  expect(replaceValues('{"a":1,"c":[2,{"b":0}]}', values)).toBe(
    '{"a":{"$&":null},"c":[2,{"b":0}]}',
  );
});

test.each([
  ["16 MB of escapes", `"${String.raw`\n`.repeat(8 * 1024 * 1024)}"`],
  ["16 MB of backslashes", `"${String.raw`\\`.repeat(8 * 1024 * 1024)}"`],
  ["100,000 brackets", "[".repeat(100_000) + "]".repeat(100_000)],
])("%s pass unchanged", (_, value) => {
  const replaced = replaceValues(`{"a":${value},"model":"auto"}`, { model: "a/b" });
  expect(replaced === `{"a":${value},"model":"a/b"}`).toBe(true);
});
