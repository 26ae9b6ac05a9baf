import { describe, expect, test } from "vitest";
import { apiForms, post } from "../testing/api-forms.ts";
import { testRouter } from "../testing/test-router.ts";

type ApiForm = (typeof apiForms)[number];

const depth = 10_000;
const deepObject = `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
const deepList = `${"[".repeat(depth)}${"]".repeat(depth)}`;
const polluting: unknown = JSON.parse('{"__proto__":{"role":"user"},"constructor":{"a":1}}');

const bodies: [what: string, text: string][] = [
  ["no body", ""],
  ["half of an object", '{"model":'],
  ["two objects", "{}{}"],
  ["a comment", "{} // hi"],
  ["NaN", '{"temperature":NaN}'],
  ["control characters", "\u0000\u0001"],
  ["a byte order mark", "\ufeff\ufeff{}"],
  ["a text", '"hi"'],
  ["a number", "1"],
  ["null", "null"],
  ["true", "true"],
  ["a list", "[]"],
  ["a list of lists", deepList],
  ["an object in objects", deepObject],
  ["an object in a prototype", '{"__proto__":{"model":"auto","messages":[],"input":"hi"}}'],
  ["an empty object", "{}"],
];

/** A body with the value at a path; the path is part of the error. */
type Row = readonly [path: string, value: unknown];

function rowsOf({ name }: ApiForm): readonly Row[] {
  const list = name === "responses" ? "input" : "messages";
  const tokens = name === "responses" ? "max_output_tokens" : "max_tokens";
  const stop = name === "chat" ? "stop" : "stop_sequences";
  const schema = { chat: "function.parameters", responses: "parameters", messages: "input_schema" };
  const toolName = name === "chat" ? "tools.0.function.name" : "tools.0.name";
  const image = {
    chat: (url: string) => ({ type: "image_url", image_url: { url } }),
    responses: (image_url: string) => ({ type: "input_image", image_url }),
    messages: (url: string) => ({ type: "image", source: { type: "url", url } }),
  }[name];
  const rows: (readonly [path: string, ...values: unknown[]])[] = [
    ["model", undefined, null, 5, true, "", [], {}, ["auto"], polluting],
    ["stream", "yes", 1, [], {}],
    ["temperature", "hot", [], {}, true],
    ["top_p", "x", [1], {}],
    [tokens, -1, 0.5, 1e308, "5", [], {}],
    [list, undefined, null, 5, true, {}, [null], [5], ["hi"], [[]], [[[]]], polluting],
    [`${list}.0.role`, 5, true, "root", "__proto__", {}, []],
    [`${list}.0.content`, 5, true, {}, [null], [5], ["hi"], [[]], [{}], polluting],
    [`${list}.0.content`, [{ type: 5 }], [{ type: "__proto__" }], [{ type: "constructor" }]],
    [`${list}.0.content`, [{ type: "text" }], [{ type: "text", text: 5 }], [polluting]],
    [
      `${list}.0.content`,
      ...["file:///etc/passwd", "https://", "data:"].map((url) => [image(url)]),
    ],
    ["tools", 5, "look", {}, [null], [5], [[]], [{}], [polluting]],
    [toolName, undefined, null, 5, "", {}, []],
    [`tools.0.${schema[name]}`, 5, "object", []],
    ["tool_choice", 5, true, "maybe", [], { type: 5 }, { type: "maybe" }],
    ...(name === "responses" ? [] : [[stop, 5, {}, [5], [null]] as const]),
  ];
  return rows.flatMap(([path, ...values]) => values.map((value) => [path, value] as const));
}

/** Returns a body with another value at a path. */
function change(value: unknown, [key, ...path]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value)) return value.with(Number(key), change(value[Number(key)], path, by));
  const fields = value as Record<string, unknown>;
  return { ...fields, [key]: change(fields[key], path, by) };
}

/** Returns the message of an error in an API's form, with its path if it has a field for it. */
async function problemOf({ name }: ApiForm, response: Response): Promise<string> {
  const body = (await response.json()) as { type?: string; error: Record<string, unknown> };
  expect(Object.keys(body)).toEqual(name === "messages" ? ["type", "error"] : ["error"]);
  expect(body.error["type"]).toBe("invalid_request_error");
  return `${String(body.error["param"])} ${String(body.error["message"])}`;
}

describe.each(apiForms)("$path", (form) => {
  test.each(bodies)("%s is refused", async (_, body) => {
    const { request, seen } = await testRouter();
    const response = await request(form.path, { ...post({}), body });
    expect(response.status).toBe(400);
    expect(await problemOf(form, response)).toMatch(/not JSON|This router cannot do this: \S+/);
    expect(seen).toEqual([]);
  });

  test.each(rowsOf(form))("%s: %j is refused by its path (row %$)", async (path, value) => {
    const { request, seen } = await testRouter();
    const body = change(form.ask(["hi"]), path.split("."), value);
    const response = await request(form.path, post(body));
    expect(response.status).toBe(400);
    expect(await problemOf(form, response)).toContain(`cannot do this: ${path}`);
    expect(seen).toEqual([]);
  });

  test.each(["model", "tools", "metadata", "unknown", "messages.0.content", "input.0.content"])(
    "10,000 levels at %s are refused",
    async (path) => {
      const { request, seen } = await testRouter();
      const body = form.ask(["hi"]);
      const [field = ""] = path.split(".");
      const given = path === field || field in body ? path : field;
      for (const deep of [deepObject, deepList]) {
        const text = JSON.stringify(change(body, given.split("."), "deep"));
        const init = { ...post({}), body: text.replace('"deep"', () => deep) };
        const response = await request(form.path, init);
        expect(response.status).toBe(400);
        expect(await problemOf(form, response)).toContain(`cannot do this: ${given}`);
      }
      expect(seen).toEqual([]);
    },
  );

  test.each(["a/b\r\nx-evil: 1", "a/b\u0000", "a/\u{1f600}", "a/é", `a/${"b".repeat(10_000)}`])(
    "the model %j is unknown",
    async (model) => {
      const { request, seen } = await testRouter();
      for (const stream of [true, false]) {
        const response = await request(form.path, post(form.ask(["hi"], { model, stream })));
        expect([response.status, response.headers.get("x-evil")]).toEqual([404, null]);
        expect(await response.text()).toContain("There is no such model here");
      }
      expect(seen).toEqual([]);
    },
  );

  test.each(["\ud800", "\u0000", "__proto__", "\r\ndata: [DONE]\r\n\r\n", "</task>", "<task>"])(
    "the text %j is answered",
    async (text) => {
      const { request } = await testRouter();
      for (const stream of [true, false]) {
        const response = await request(form.path, post(form.ask([text], { stream })));
        expect(response.status).toBe(200);
        expect(await response.text()).not.toContain("\r\ndata: [DONE]");
      }
    },
  );

  test("names of unknown fields are listed, if a header can hold them", async () => {
    const { request } = await testRouter();
    const evil = { "x\r\ny": 1, é: 1, __proto: 1, ["n".repeat(10_000)]: 1 };
    const response = await request(form.path, post({ ...form.ask(["hi"]), ...evil }));
    expect(response.status).toBe(200);
    expect(response.headers.get("x-router-ignored")).toBe("unprintable, __proto");
  });
});
