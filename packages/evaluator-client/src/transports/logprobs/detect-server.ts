import { StatusError } from "../../errors.ts";
import type { JsonResponse } from "../../http/http-client.ts";
import { listAt, textAt } from "../../questions/json.ts";
import { ollamaServer, openAiServer, vllmServer } from "./servers/chat.ts";
import { llamaCppServer } from "./servers/llama-cpp.ts";
import type { LabelCall, LabelConnection } from "./label-connection.ts";
import type { LabelServer } from "./servers/server.ts";
import { sglangServer } from "./servers/sglang.ts";

/** The servers that can be asked, by the name in the option `server`. */
export const labelServers = {
  openai: openAiServer,
  vllm: vllmServer,
  "llama.cpp": llamaCppServer,
  sglang: sglangServer,
  ollama: ollamaServer,
} as const satisfies Record<string, LabelServer>;

/** The name of a kind of server. */
export type LabelServerName = keyof typeof labelServers;

/** What each kind calls itself in `owned_by` of its list of models. */
const owners: Record<string, LabelServerName> = {
  vllm: "vllm",
  sglang: "sglang",
  llamacpp: "llama.cpp",
  library: "ollama",
};

/** Finds out once which kind of server there is, for everyone who asks it. */
export class ServerFinder {
  readonly #connection: LabelConnection;
  #known: LabelServerName | null;
  #asking: Promise<void> | null = null;

  constructor(given: LabelServerName | "auto", connection: LabelConnection) {
    this.#connection = connection;
    this.#known = given === "auto" ? null : given;
  }

  /**
   * Returns the server as it is asked.
   *
   * @throws EvaluatorError when it is not there, or not ready yet; then the next one asks again.
   */
  async find(call: LabelCall): Promise<LabelServer> {
    while (this.#known === null) {
      if (this.#asking === null) await this.#detect(call);
      else await this.#asking;
    }
    return labelServers[this.#known];
  }

  async #detect(call: LabelCall): Promise<void> {
    call.signal.throwIfAborted();
    const lookUp = (path: string) =>
      this.#connection.send({ method: "GET", path, body: null }, call);
    const found = detectServer(lookUp);
    this.#asking = found.then(
      () => undefined,
      () => undefined,
    );
    try {
      this.#known = await found;
    } finally {
      this.#asking = null;
    }
  }
}

type LookUp = (path: string) => Promise<JsonResponse>;

/** Returns which kind answers: by its list of models, else by Ollama's version, else it is OpenAI's. */
async function detectServer(lookUp: LookUp): Promise<LabelServerName> {
  const models = await lookUpIfThere(lookUp, "/v1/models");
  for (const model of listAt(models?.json, "data")) {
    const owner = textAt(model, "owned_by") ?? "";
    if (Object.hasOwn(owners, owner)) return owners[owner] as LabelServerName;
  }
  // Ollama names the user whose model it is, who may be anyone.
  const version = await lookUpIfThere(lookUp, "/api/version");
  return textAt(version?.json, "version") === null ? "openai" : "ollama";
}

/** What stands at a path, or null where the server knows no such path or shows it to nobody. */
async function lookUpIfThere(lookUp: LookUp, path: string): Promise<JsonResponse | null> {
  try {
    return await lookUp(path);
  } catch (error) {
    const isAnswer = error instanceof StatusError && !error.isRetryable;
    if (isAnswer) return null;
    throw error;
  }
}
