import { describe, expect, test } from "vitest";
import type { JsonResponse } from "../../http/http-response.ts";
import { type LabelServer, type LabelServerName, labelServers } from "./label-servers.ts";

type FirstTokenRequest = Parameters<LabelServer["ask"]>[0];

const request: FirstTokenRequest = {
  model: "a-model",
  prompt: "Yes or no?",
  depth: 20,
  tokenIds: null,
};
const byId = [
  { id: 9891, text: "yes" },
  { id: 2201, text: "no" },
];

/** Asks a server that returns these bodies by path, and keeps its requests. */
async function ask(
  name: LabelServerName,
  bodies: Record<string, unknown>,
  asked: Partial<FirstTokenRequest> = {},
) {
  const sent: string[] = [];
  const post = async (path: string, body: object): Promise<JsonResponse> => {
    sent.push(`${path} ${JSON.stringify(body)}`);
    return { status: 200, headers: {}, text: "", json: bodies[path] };
  };
  const first = await labelServers[name].ask({ ...request, ...asked }, post);
  return { sent, first };
}

/** A chat's answer in OpenAI's form, as its reference prints one. */
const openAiChat = {
  id: "chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG",
  object: "chat.completion",
  created: 1_741_570_283,
  model: "gpt-4o-2024-08-06",
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: "yes", refusal: null, annotations: [] },
      logprobs: {
        content: [
          {
            token: "yes",
            logprob: -0.105,
            bytes: [121, 101, 115],
            top_logprobs: [
              { token: "yes", logprob: -0.105, bytes: [121, 101, 115] },
              { token: "no", logprob: -2.355, bytes: [110, 111] },
              { token: "Yes", logprob: -6.73, bytes: [89, 101, 115] },
            ],
          },
        ],
        refusal: null,
      },
      finish_reason: "length",
    },
  ],
  usage: { prompt_tokens: 19, completion_tokens: 1, total_tokens: 20 },
};

const listed = [
  { text: "yes", logprob: -0.105 },
  { text: "no", logprob: -2.355 },
  { text: "Yes", logprob: -6.73 },
];

test("OpenAI is asked for one token and the most it lists", async () => {
  const { sent, first } = await ask("openai", { "/v1/chat/completions": openAiChat });
  expect(sent).toMatchInlineSnapshot(`
    [
      "/v1/chat/completions {"model":"a-model","messages":[{"role":"user","content":"Yes or no?"}],"logprobs":true,"top_logprobs":20,"temperature":0,"max_completion_tokens":1}",
    ]
  `);
  expect(first).toMatchObject({ tokens: listed, inputTokens: 19, outputTokens: 1 });
});

test("Ollama is asked by the older name of the limit, and not to think", async () => {
  const { sent, first } = await ask("ollama", { "/v1/chat/completions": openAiChat });
  expect(sent).toMatchInlineSnapshot(`
    [
      "/v1/chat/completions {"model":"a-model","messages":[{"role":"user","content":"Yes or no?"}],"logprobs":true,"top_logprobs":20,"temperature":0,"max_tokens":1,"reasoning_effort":"none"}",
    ]
  `);
  expect(first.tokens).toEqual(listed);
});

test("vLLM is asked for tokens by id, and not to think", async () => {
  // With ids, it lists those and nothing else, with the answered token only if it is one of them.
  const content = [
    {
      token: "Well",
      logprob: -0.5,
      bytes: null,
      top_logprobs: [
        { token: "yes", logprob: -1.25, bytes: null },
        { token: "no", logprob: -9999.0, bytes: null },
      ],
    },
  ];
  const [choice] = openAiChat.choices;
  const vllmChat = { ...openAiChat, choices: [{ ...choice, logprobs: { content } }] };
  const bodies = { "/v1/chat/completions": vllmChat };
  const { sent, first } = await ask("vllm", bodies, { tokenIds: byId });
  expect(sent).toMatchInlineSnapshot(`
    [
      "/v1/chat/completions {"model":"a-model","messages":[{"role":"user","content":"Yes or no?"}],"logprobs":true,"top_logprobs":20,"temperature":0,"logprob_token_ids":[9891,2201],"max_completion_tokens":1,"chat_template_kwargs":{"enable_thinking":false}}",
    ]
  `);
  expect(first.tokens).toEqual([
    { text: "yes", logprob: -1.25 },
    { text: "no", logprob: -9999 },
    { text: "Well", logprob: -0.5 },
  ]);
});

test("llama-server writes the template itself and lists before sampling", async () => {
  const top_logprobs = [
    { id: 9891, token: "yes", bytes: [121, 101, 115], logprob: -0.105 },
    { id: 2201, token: " no", bytes: [32, 110, 111], logprob: -2.355 },
  ];
  const bodies = {
    "/apply-template": {
      prompt: "<|im_start|>user\nYes or no?<|im_end|>\n<|im_start|>assistant\n",
    },
    "/completion": {
      index: 0,
      content: "yes",
      tokens: [],
      id_slot: 0,
      stop: true,
      model: "qwen3-4b",
      tokens_predicted: 1,
      tokens_evaluated: 17,
      completion_probabilities: [{ ...top_logprobs[0], top_logprobs }],
    },
  };
  const { sent, first } = await ask("llama.cpp", bodies, { depth: 256 });
  expect(sent).toMatchInlineSnapshot(`
    [
      "/apply-template {"model":"a-model","messages":[{"role":"user","content":"Yes or no?"}],"chat_template_kwargs":{"enable_thinking":false}}",
      "/completion {"model":"a-model","prompt":"<|im_start|>user\\nYes or no?<|im_end|>\\n<|im_start|>assistant\\n","n_predict":1,"n_probs":256,"post_sampling_probs":false,"cache_prompt":true}",
    ]
  `);
  expect(first).toMatchObject({
    tokens: [
      { text: "yes", logprob: -0.105 },
      { text: " no", logprob: -2.355 },
    ],
    inputTokens: 17,
    outputTokens: 1,
  });
});

test("SGLang is given token ids, and which to list", async () => {
  const bodies = {
    "/tokenize": { tokens: [151_644, 872, 198], count: 3, max_model_len: 32_768 },
    "/generate": {
      text: "yes",
      output_ids: [9891],
      meta_info: {
        id: "1b5c",
        finish_reason: { type: "length", length: 1 },
        prompt_tokens: 3,
        completion_tokens: 1,
        output_token_logprobs: [[-0.105, 9891, "yes"]],
        output_top_logprobs: [
          [
            [-0.105, 9891, "yes"],
            [-3.2, 40, "I"],
          ],
        ],
        output_token_ids_logprobs: [
          [
            [-0.105, 9891, null],
            [-2.355, 2201, null],
          ],
        ],
      },
    },
  };
  const { sent, first } = await ask("sglang", bodies, { tokenIds: byId });
  expect(sent).toMatchInlineSnapshot(`
    [
      "/tokenize {"model":"a-model","messages":[{"role":"user","content":"Yes or no?"}],"chat_template_kwargs":{"enable_thinking":false}}",
      "/generate {"input_ids":[151644,872,198],"sampling_params":{"max_new_tokens":1,"temperature":0},"return_logprob":true,"top_logprobs_num":20,"token_ids_logprob":[9891,2201],"return_text_in_logprobs":true}",
    ]
  `);
  expect(first).toMatchObject({
    tokens: [
      { text: "yes", logprob: -0.105 },
      { text: "I", logprob: -3.2 },
      { text: "no", logprob: -2.355 },
    ],
    inputTokens: 3,
    outputTokens: 1,
  });
});

const [choice] = openAiChat.choices;
const said = { role: "assistant", content: "" };

describe.each(["openai", "ollama", "vllm"] as const)("%s", (name) => {
  test.each<[string, unknown, RegExp]>([
    ["null", { ...choice, logprobs: null }, /without log-probabilities/],
    ["nothing", { index: 0, message: said }, /without log-probabilities/],
    ["an empty list", { ...choice, logprobs: { content: [] } }, /without log-probabilities/],
    [
      "a model that thinks first",
      { ...choice, message: { ...said, reasoning_content: "Hmm" }, logprobs: null },
      /think before it answers.*Switch thinking off/,
    ],
    ["a sign of thinking", withToken("<think>"), /think before it answers/],
    ["a channel", withToken("<|channel|>"), /think before it answers/],
  ])("advises which option to turn on if logprobs are %s", async (_, answered, message) => {
    const body = { ...openAiChat, choices: [answered] };
    const asked = ask(name, { "/v1/chat/completions": body });
    await expect(asked).rejects.toMatchObject({
      name: "ConfigurationError",
      message: expect.stringMatching(message),
    });
  });
});

function withToken(token: string) {
  return { ...choice, logprobs: { content: [{ token, logprob: -0.1, top_logprobs: [] }] } };
}

test.each<[string, unknown, RegExp]>([
  [
    "after sampling, as before its version b4400",
    { completion_probabilities: [{ content: "yes", probs: [{ tok_str: "yes", prob: 1 }] }] },
    /probabilities after sampling.*Update llama-server/,
  ],
  [
    "after sampling, against what was asked",
    {
      completion_probabilities: [{ token: "yes", prob: 1, top_probs: [{ token: "yes", prob: 1 }] }],
    },
    /probabilities after sampling/,
  ],
  ["none", { content: "yes" }, /without log-probabilities/],
])("rejects probabilities of llama-server that are %s", async (_, body, message) => {
  const asked = ask("llama.cpp", { "/apply-template": { prompt: "x" }, "/completion": body });
  await expect(asked).rejects.toMatchObject({
    name: "ConfigurationError",
    message: expect.stringMatching(message),
  });
});

test.each([
  ["llama.cpp", {}, /apply-template gave no prompt/],
  ["sglang", {}, /tokenize gave no tokens/],
] as const)("names the route of %s that returned nothing", async (name, bodies, message) => {
  await expect(ask(name, bodies)).rejects.toMatchObject({
    rule: "body-shape",
    message: expect.stringMatching(message),
  });
});

test("rejects an answer of SGLang without log-probabilities", async () => {
  const bodies = { "/tokenize": { tokens: [1] }, "/generate": { text: "yes", meta_info: {} } };
  await expect(ask("sglang", bodies)).rejects.toMatchObject({ name: "ConfigurationError" });
});
