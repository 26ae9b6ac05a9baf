import { expect, test } from "vitest";
import { HttpError } from "../../http-error.ts";
import { readMessagesRequest } from "./messages-request.ts";

const user = { role: "user", content: "hi" };
const cache_control = { type: "ephemeral", ttl: "1h" };

function read(fields: object) {
  return readMessagesRequest({ model: "auto", max_tokens: 10, messages: [user], ...fields });
}

function enabled(budget_tokens: number) {
  return { thinking: { type: "enabled", budget_tokens } };
}

const inUser = (...content: object[]) => ({ messages: [{ role: "user", content }] });

const unsupported: [path: string, instead: string, fields: object][] = [
  ["max_tokens", "send 1 or more", { max_tokens: 0 }],
  ["tools.0.type", "define a tool", { tools: [{ type: "web_search_20250305", name: "w" }] }],
  ["messages.0.content.0.type", "type text", inUser({ type: "container_upload", file_id: "f" })],
  [
    "messages.0.content.0.source.url",
    "not an https:",
    inUser({ type: "image", source: { type: "url", url: "http://a.example/b" } }),
  ],
  [
    "messages.0.content.0.source.type",
    "send the image itself",
    inUser({ type: "image", source: { type: "file", file_id: "f" } }),
  ],
  [
    "messages.0.content.0.content.0.type",
    "type text",
    inUser({ type: "tool_result", tool_use_id: "1", content: [{ type: "browser_state" }] }),
  ],
];

test.each(unsupported)("%s is for Anthropic's own service, else: %s", (path, instead, fields) => {
  const { unsupported: error, conversation } = read(fields);
  expect(error).toMatchObject({ status: 400, details: { param: path } });
  expect(error?.message).toContain(instead);
  expect(conversation.tools).toEqual([]);
});

const block = "messages.0.content.0";
const source = { type: "base64", media_type: "image/png", data: "iVBORw==" };
const impossible: [path: string, problem: string, fields: object][] = [
  ["max_tokens", "missing; send", { max_tokens: null }],
  ["max_tokens", "", { max_tokens: 1e308 }],
  ["max_tokens", "", { max_tokens: "10" }],
  ["model", "", { model: "" }],
  ["messages", "", { messages: [] }],
  ["messages", "", { messages: "hi" }],
  ["messages.0", "", { messages: [null] }],
  ["messages.0.role", "none of user", { messages: [{ role: "tool", content: "x" }] }],
  ["messages.0.content", "neither text nor a list", { messages: [{ role: "user", content: 1 }] }],
  [`${block}.type`, "", inUser({ text: "no type" })],
  [`${block}.text`, "", inUser({ type: "text", text: 1 })],
  [
    `${block}.cache_control.ttl`,
    "",
    inUser({ ...text(), cache_control: { ...cache_control, ttl: 5 } }),
  ],
  [
    `${block}.source.data`,
    "not base64",
    inUser({ type: "image", source: { ...source, data: "a b" } }),
  ],
  [
    `${block}.source.media_type`,
    "media type",
    inUser({ type: "image", source: { ...source, media_type: "image/png;a=b,c" } }),
  ],
  ...["ftp://a.example/b", "file:///etc/passwd", "https://"].map(
    (url): [string, string, object] => [
      `${block}.source.url`,
      "not an https:",
      inUser({ type: "image", source: { type: "url", url } }),
    ],
  ),
  [`${block}.tool_use_id`, "", inUser({ type: "tool_result", content: "x" })],
  [
    `${block}.content.0.text`,
    "",
    inUser({ type: "tool_result", tool_use_id: "1", content: [{ type: "text" }] }),
  ],
  [
    `${block}.input`,
    "not an object",
    {
      messages: [
        { role: "assistant", content: [{ type: "tool_use", id: "1", name: "f", input: [1] }] },
      ],
    },
  ],
  ["tools.0.input_schema", "not an object", { tools: [{ name: "f" }] }],
  ["tools.0.input_schema", "not an object", { tools: [{ name: "f", input_schema: [] }] }],
  ["tools.0.type", "", { tools: [{ type: 1 }] }],
  ["tool_choice.type", "none of auto", { tool_choice: { type: "maybe" } }],
  ["tool_choice.name", "", { tool_choice: { type: "tool" } }],
  ["output_config.format.type", "json_schema", { output_config: { format: { type: "xml" } } }],
  ["thinking.budget_tokens", "", enabled(-1)],
  ["temperature", "", { temperature: "hot" }],
  ["thread", "send the whole conversation", { thread: { type: "create" } }],
];

function text() {
  return { type: "text", text: "hi" };
}

test.each(impossible)("%s is refused by its path: %s", (path, problem, fields) => {
  const reading = () => read(fields);
  expect(reading).toThrow(HttpError);
  expect(reading).toThrow(expect.objectContaining({ status: 400, details: { param: path } }));
  expect(reading).toThrow(problem);
});

test("a body that is no object is refused, and so is deep nesting, by its path", () => {
  for (const body of [null, "hi", 1, []]) {
    expect(() => readMessagesRequest(body)).toThrow("cannot do this: the body: ");
  }
  const deep: unknown = JSON.parse(`${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`);
  const call = { type: "tool_use", id: "1", name: "f", input: deep };
  expect(() => read({ messages: [{ role: "assistant", content: [call] }] })).toThrow(
    "messages.0.content.0.input.a.a.a: nested",
  );
});

test("no value of the wrong type at any path is more than a refusal", () => {
  const result = { type: "tool_result", tool_use_id: "1", content: [text()], is_error: false };
  const body = {
    model: "auto",
    max_tokens: 10,
    system: [text()],
    messages: [{ role: "user", content: [text(), { type: "image", source }, result] }],
    tools: [{ name: "f", input_schema: { type: "object" }, cache_control }],
    tool_choice: { type: "tool", name: "f" },
    ...enabled(2000),
    stop_sequences: ["."],
    metadata: { user_id: "u" },
  };
  const wrong = [null, true, 1e308, -1, "\ud800", [], {}, [null], JSON.parse('{"__proto__":{}}')];
  for (const path of pathsOf(body)) {
    for (const value of wrong) {
      const changed = replace(body, path, value);
      const outcome = `${path.join(".")}: ${outcomeOf(changed)}`;
      expect(outcome).toMatch(/^[\w.]*: (read|HttpError: This router cannot)/);
    }
  }
});

function outcomeOf(body: unknown): string {
  try {
    readMessagesRequest(body);
    return "read";
  } catch (error) {
    return String(error);
  }
}

function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [path];
  const inner = Object.entries(value).flatMap(([key, each]) => pathsOf(each, [...path, key]));
  return [path, ...inner];
}

function replace(value: unknown, [key, ...path]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  const entries = Object.entries(value as object).map(([name, inner]) => [
    name,
    name === key ? replace(inner, path, by) : (inner as unknown),
  ]);
  return Array.isArray(value) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries);
}
