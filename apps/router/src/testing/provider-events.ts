/** Returns a chunk of a reply of OpenAI's chat API. */
export const chatDelta = (given: object, finish_reason: string | null = null) => ({
  id: "1",
  model: "m",
  created: 1,
  choices: [{ index: 0, delta: given, finish_reason }],
});
const chatCall = (index: number, given: object) => chatDelta({ tool_calls: [{ index, ...given }] });

/** The tokens of the replies, in the form of OpenAI's chat API. */
export const chatUsage = {
  prompt_tokens: 30,
  completion_tokens: 9,
  prompt_tokens_details: { cached_tokens: 20 },
  completion_tokens_details: { reasoning_tokens: 4 },
};

/** A reply with reasoning, text and two calls that interleave. */
export const chatEvents = [
  chatDelta({ role: "assistant", reasoning_content: "hm" }),
  chatDelta({ content: "I look" }),
  chatCall(0, {
    id: "a",
    function: { name: "look", arguments: '{"at"' },
    extra_content: { google: { thought_signature: "thought" } },
  }),
  chatCall(1, { id: "b", function: { name: "look", arguments: "" } }),
  chatCall(0, { function: { arguments: ":1}" } }),
  chatCall(1, { function: { arguments: '{"at":2}' } }),
  chatDelta({}, "tool_calls"),
  { ...chatDelta({}), choices: [], usage: chatUsage },
];

/** A reply of the Responses API with encrypted reasoning and a call. */
export const responseEvents = [
  { type: "response.created", response: { id: "r", created_at: 1, model: "m" } },
  {
    type: "response.output_item.added",
    output_index: 0,
    item: { type: "reasoning", id: "rs", encrypted_content: null, summary: [] },
  },
  {
    type: "response.reasoning_summary_text.delta",
    item_id: "rs",
    output_index: 0,
    summary_index: 0,
    delta: "hm",
  },
  {
    type: "response.output_item.done",
    output_index: 0,
    item: { type: "reasoning", id: "rs", encrypted_content: "enc", summary: [] },
  },
  {
    type: "response.output_item.added",
    output_index: 1,
    item: { type: "function_call", id: "fc", call_id: "a", name: "look", arguments: "" },
  },
  {
    type: "response.function_call_arguments.delta",
    item_id: "fc",
    output_index: 1,
    delta: '{"at":1}',
  },
  {
    type: "response.output_item.done",
    output_index: 1,
    item: {
      type: "function_call",
      id: "fc",
      call_id: "a",
      name: "look",
      arguments: '{"at":1}',
      status: "completed",
    },
  },
  {
    type: "response.completed",
    response: {
      usage: {
        input_tokens: 30,
        input_tokens_details: { cached_tokens: 20 },
        output_tokens: 9,
        output_tokens_details: { reasoning_tokens: 4 },
      },
    },
  },
];

const anthropicUsage = {
  input_tokens: 10,
  cache_read_input_tokens: 15,
  cache_creation_input_tokens: 5,
  output_tokens: 1,
};
const block = (index: number, content_block: object, ...deltas: object[]) => [
  { type: "content_block_start", index, content_block },
  ...deltas.map((each) => ({ type: "content_block_delta", index, delta: each })),
  { type: "content_block_stop", index },
];
/** A reply of the Messages API with signed reasoning and a call. */
export const anthropicEvents = [
  {
    type: "message_start",
    message: {
      id: "m",
      type: "message",
      role: "assistant",
      model: "m",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: anthropicUsage,
    },
  },
  ...block(
    0,
    { type: "thinking", thinking: "", signature: "" },
    { type: "thinking_delta", thinking: "hm" },
    { type: "signature_delta", signature: "sig" },
  ),
  ...block(
    1,
    { type: "tool_use", id: "a", name: "look", input: {} },
    { type: "input_json_delta", partial_json: '{"at"' },
    { type: "input_json_delta", partial_json: ":1}" },
  ),
  {
    type: "message_delta",
    delta: { stop_reason: "tool_use", stop_sequence: null },
    usage: { output_tokens: 9 },
  },
  { type: "message_stop" },
];
