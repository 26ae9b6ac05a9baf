/** Each playable server: the `owned_by` of its model, and its paths beside `/v1/models`. */
export const engines = {
  openai: { owner: "system", paths: ["/v1/chat/completions", "/v1/decisions"] },
  vllm: { owner: "vllm", paths: ["/v1/chat/completions", "/tokenize", "/v1/decisions"] },
  "llama.cpp": {
    owner: "llamacpp",
    paths: ["/v1/chat/completions", "/apply-template", "/completion"],
  },
  ollama: { owner: "library", paths: ["/v1/chat/completions", "/api/version"] },
  sglang: {
    owner: "sglang",
    paths: ["/v1/chat/completions", "/tokenize", "/generate", "/v1/decisions"],
  },
} as const;

/** A server whose wire can be played. */
export type EngineName = keyof typeof engines;

/** The servers whose wire can be played. */
export const engineNames = Object.keys(engines) as readonly EngineName[];
