import { expect, test } from "vitest";
import { HttpError } from "../../http-error.ts";
import { responsesApi } from "./responses-api.ts";
import { responsesSchema } from "./responses-request.ts";

const read = (fields: object) => responsesApi.read({ model: "auto", input: "hi", ...fields });

const said = (content: unknown) => ({ input: [{ role: "user", content }] });
const part = (content: unknown) => said([content]);
const call = { type: "function_call", call_id: "call_1", name: "look", arguments: '{"at":1}' };
const output = { type: "function_call_output", call_id: "call_1", output: "seen" };
const look = {
  type: "function",
  name: "look",
  description: "Look.",
  parameters: { type: "object" },
};

const refused: [param: string, instead: string, fields: object][] = [
  ["model", "", { model: "" }],
  ["input", "neither text nor a list", { input: 5 }],
  ["input", "neither text nor a list", { input: undefined }],
  ["stream", "", { stream: "yes" }],
  ["store", "send the whole conversation", { store: true }],
  ["background", "use stream", { background: true }],
  ["previous_response_id", "send the whole conversation", { previous_response_id: "resp_1" }],
  ["conversation", "send the whole conversation", { conversation: { id: "conv_1" } }],
  ["input.0.role", "", { input: [{ role: "tool", content: "x" }] }],
  ["input.0.content", "neither text nor a list", said(null)],
  ["input.0.content.0.text", "", part({ type: "input_text", text: 1 })],
  [
    "input.0.content.0.image_url",
    "neither an https: nor a data:",
    part({ type: "input_image", image_url: "file:///etc/passwd" }),
  ],
  ["input.0.content.0.image_url", "send the image", part({ type: "input_image" })],
  ["input.0.content.0.file_data", "send the file", part({ type: "input_file", file_id: null })],
  ["input.0.content.0.file_url", "https:", part({ type: "input_file", file_url: "ftp://a.b/c" })],
  ["input.0.call_id", "", { input: [{ ...output, call_id: undefined }] }],
  ["input.0.arguments", "", { input: [{ ...call, arguments: 5 }] }],
  ["input.0.output", "neither text nor a list", { input: [{ ...output, output: { a: 1 } }] }],
  ["input.0.summary.0.text", "", { input: [{ type: "reasoning", summary: [{ type: "text" }] }] }],
  ["input.0.encrypted_content", "", { input: [{ type: "reasoning", encrypted_content: 1 }] }],
];

test.each(refused)("%s is refused by its path, with an alternative: %s", (...row) => {
  const [param, instead, fields] = row;
  const reading = () => read(fields);
  expect(reading).toThrow(HttpError);
  expect(reading).toThrow(`This router cannot do this: ${param}: `);
  expect(reading).toThrow(instead);
  expect(reading).toThrow(expect.objectContaining({ status: 400, details: { param } }));
});

const mcp = { type: "mcp", server_label: "s", server_url: "https://example.com" };
const unsupported: [param: string, instead: string, fields: object][] = [
  ["input.0.type", "with store: false", { input: [{ type: "item_reference", id: "msg_1" }] }],
  ["input.0.type", "messages, calls and outputs", { input: [{ type: "web_search_call" }] }],
  ["input.0.type", "", { input: [{ type: "compaction", encrypted_content: "x" }] }],
  ["input.0.content.0.type", "input_text", part({ type: "input_video" })],
  ["input.0.content.0.image_url", "send the image", part({ type: "input_image", file_id: "f" })],
  ["input.0.content.0.file_data", "send the file", part({ type: "input_file", file_id: "f" })],
  [
    "input.0.content.0.file_url",
    "https:",
    part({ type: "input_file", file_url: "http://localhost" }),
  ],
  [
    "input.0.content.0.input_audio.format",
    "neither wav nor mp3",
    part({ type: "input_audio", input_audio: { data: "aGk=", format: "ogg" } }),
  ],
  ["input.0.output.0.type", "input_text", { input: [{ ...output, output: [{ type: "x" }] }] }],
  ["tools.0.type", "define it as a function", { tools: [mcp] }],
  ["tools.0.type", "define it as a function", { tools: [{ type: "local_shell" }] }],
  [
    "tools.0.tools.0.type",
    "a function",
    { tools: [{ type: "namespace", name: "n", tools: [mcp] }] },
  ],
  ["tools.0.name", "", { tools: [{ ...look, name: "" }] }],
  ["tools.0.parameters", "not an object", { tools: [{ ...look, parameters: [] }] }],
  [
    "tool_choice.type",
    "send only the tools",
    { tool_choice: { type: "allowed_tools", name: "n" } },
  ],
  [
    "tool_choice",
    "define a function",
    { tool_choice: "required", tools: [{ type: "web_search" }] },
  ],
  ["text.format.type", "use text, json_object", { text: { format: { type: "grammar" } } }],
  ["text.format.schema", "not an object", { text: { format: { type: "json_schema", name: "n" } } }],
  ["text.verbosity", "", { text: { verbosity: "loud" } }],
  ["reasoning.effort", "", { reasoning: { effort: "huge" } }],
  ["temperature", "number", { temperature: "hot" }],
  ["max_output_tokens", "", { max_output_tokens: -1 }],
  ["top_logprobs", "no log-probabilities", { top_logprobs: 3 }],
  ["prompt", "send its text", { prompt: { id: "pmpt_1" } }],
];

test.each(unsupported)("%s is for an upstream of this API alone: %s", (param, instead, fields) => {
  const error = read(fields).unsupported;
  expect(error).toMatchObject({ status: 400, details: { param } });
  expect(error?.message).toContain(instead);
});

test("hostile values are refused, and never an unexpected error", () => {
  const deep: unknown = JSON.parse(`${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`);
  const polluting: unknown = JSON.parse('{"type":"message","__proto__":{"role":"user"}}');
  const values = [
    deep,
    polluting,
    -1,
    1e308,
    Number.NaN,
    "\ud800",
    [[]],
    [null],
    {},
    true,
    ["x"],
    { toString: 1 },
  ];
  const paths = Object.keys(responsesSchema.shape);
  const bodies = [
    ...paths.flatMap((path) => values.map((value) => ({ [path]: value }))),
    ...values.flatMap((value) => [{ input: [value] }, part(value), { tools: [value] }]),
    ...values.flatMap((value) =>
      Object.keys(call).map((key) => ({ input: [{ ...call, [key]: value }] })),
    ),
    ...values.flatMap((value) =>
      Object.keys(look).map((key) => ({ tools: [{ ...look, [key]: value }] })),
    ),
  ];
  const thrown = bodies.map((fields) => {
    try {
      const request = read(fields);
      responsesApi.write({ requestId: "1", model: "m", createdAt: 0 }, request);
      return request.unsupported ?? "read";
    } catch (error) {
      return error;
    }
  });
  const isHarmless = (each: unknown) => each === "read" || each instanceof HttpError;
  expect(thrown.filter((each) => !isHarmless(each))).toEqual([]);
  expect(thrown.filter((each) => each !== "read").length).toBeGreaterThan(bodies.length / 2);
  for (const body of [null, "hi", [], 5]) expect(() => responsesApi.read(body)).toThrow(HttpError);
});
