import { StatusError } from "../../errors.ts";
import { findHeader, type JsonResponse } from "../../http/http-response.ts";
import { listAt, textAt } from "../../questions/json.ts";
import { prepareJson, type readServer } from "../post-transport.ts";
import type { AttemptContext } from "../transport.ts";
import { Semaphore } from "../../semaphore.ts";
import { nextStep, quoteServerText, type StatusFailure, toStatusError } from "../status-failure.ts";
import { type LabelServer, labelServers, type LabelServerName } from "./label-servers.ts";

/** A server, and the common parts of its requests. */
export interface ServerAddress extends ReturnType<typeof readServer> {
  readonly http: Parameters<typeof prepareJson>[1]["http"];
  /** The caller's headers, which no error may repeat. */
  readonly addedHeaders: Readonly<Record<string, string>>;
  /** Requests in flight at once, over all evaluations. */
  readonly concurrency: number;
  readonly server: LabelServerName | "auto";
}

/** The context of one request, and the state, which no error may repeat. */
interface LabelCall extends AttemptContext {
  readonly state: unknown;
}

/** The server kinds by the `owned_by` in their list of models. */
const owners = new Map<string | null, LabelServerName>([
  ["vllm", "vllm"],
  ["sglang", "sglang"],
  ["llamacpp", "llama.cpp"],
  ["library", "ollama"],
]);

/** A server that all evaluations share: it limits requests in flight and remembers token ids. */
export class LabelConnection {
  readonly model: string;
  readonly #address: ServerAddress;
  readonly #service: Parameters<typeof prepareJson>[1];
  readonly #tokens = new Map<string, readonly number[] | null>();
  readonly #slots: Semaphore;
  readonly #detection = new Semaphore(1);
  #kind: LabelServerName | null;

  constructor(address: ServerAddress) {
    const { model, concurrency, server } = address;
    this.model = model;
    this.#address = address;
    this.#service = { ...address, toError: toServerError };
    this.#slots = new Semaphore(concurrency);
    this.#kind = server === "auto" ? null : server;
  }

  /** Returns the kind of server, detected once for all evaluations; after an error the next call asks again. */
  async findServer(call: LabelCall): Promise<LabelServer> {
    if (this.#kind !== null) return labelServers[this.#kind];
    return this.#detection.run(async () => {
      this.#kind ??= await this.#detect(call);
      return labelServers[this.#kind];
    });
  }

  /** Returns the ids of a text's tokens, from a cache if known; null if the server has no such route. */
  async tokenize(text: string, call: LabelCall): Promise<readonly number[] | null> {
    const knownValues = this.#tokens.get(text);
    const ids = knownValues === undefined ? await this.#askForTokens(text, call) : knownValues;
    this.#tokens.set(text, ids);
    return ids;
  }

  /** Quotes a server's text for a message; null if it repeats private text. */
  quote(text: string, state: unknown): string | null {
    const { apiKey, addedHeaders: headers } = this.#service;
    return quoteServerText(text, { apiKey, headers, state });
  }

  /** Detects the kind by the list of models, else by Ollama's version; the default is OpenAI. */
  async #detect(call: LabelCall): Promise<LabelServerName> {
    const models = await this.#sendIfTaken("/v1/models", call);
    for (const model of listAt(models?.json, "data")) {
      const owner = owners.get(textAt(model, "owned_by"));
      if (owner !== undefined) return owner;
    }
    // Ollama's `owned_by` may be any user.
    const version = await this.#sendIfTaken("/api/version", call);
    return textAt(version?.json, "version") === null ? "openai" : "ollama";
  }

  /** Returns the body of a path, or null if the server rejects the request. */
  async #sendIfTaken(path: string, call: LabelCall): Promise<JsonResponse | null> {
    return this.send(path, null, call).catch((error: unknown) => {
      if (error instanceof StatusError && !error.isRetryable) return null;
      throw error;
    });
  }

  async #askForTokens(text: string, call: LabelCall): Promise<readonly number[] | null> {
    const body = { model: this.model, prompt: text, add_special_tokens: false };
    try {
      const ids = listAt((await this.send("/tokenize", body, call)).json, "tokens");
      return ids.every((id) => Number.isSafeInteger(id)) ? (ids as number[]) : null;
    } catch (error) {
      if (error instanceof StatusError && [404, 405, 501].includes(error.status)) return null;
      throw error;
    }
  }

  /** Sends one request as soon as fewer than `concurrency` are in flight, and reads its JSON. */
  async send(path: string, body: object | null, call: LabelCall): Promise<JsonResponse> {
    const { baseUrl, headers } = this.#address;
    const method = body === null ? "GET" : "POST";
    const send = prepareJson({ method, url: baseUrl + path, headers }, this.#service);
    return this.#slots.run(async () => {
      call.signal.throwIfAborted();
      return send(body === null ? null : JSON.stringify(body), call, call.state);
    });
  }
}

/** Makes the error for an error status of any chat server. */
function toServerError(failure: StatusFailure): StatusError {
  const { response } = failure;
  const { status, json } = response;
  const error = textAt(json, "error", "message") ?? textAt(json, "error");
  const text = error ?? textAt(json, "message") ?? textAt(json, "detail");
  return toStatusError(failure, {
    service: "The server",
    type: textAt(json, "error", "type") ?? textAt(json, "type"),
    text,
    requestId: findHeader(response, "x-request-id"),
    advice: adviceFor(status, (text ?? "").slice(0, 2000)),
  });
}

function adviceFor(status: number, text: string): string {
  if (status === 400 && /logprob/i.test(text)) {
    return "Choose a model that returns log-probabilities; a reasoning model does not.";
  }
  if (/context (length|size|window)|n_ctx|too many tokens/i.test(text)) {
    return "Send a smaller state, or start the server with a larger context.";
  }
  if (status === 404) return "Check the base URL and that the server has this model.";
  return nextStep(status);
}
