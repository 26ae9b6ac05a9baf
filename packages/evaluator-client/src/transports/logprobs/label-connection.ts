import { StatusError } from "../../errors.ts";
import { headerOf, type JsonResponse } from "../../http/http-client.ts";
import { listAt, textAt } from "../../questions/json.ts";
import { type JsonService, prepareJson } from "../post-transport.ts";
import type { AttemptContext } from "../../retry/attempt.ts";
import { Semaphore } from "../../semaphore.ts";
import {
  nextStep,
  type PrivateText,
  type StatusFailure,
  toStatusError,
} from "../status-failure.ts";
import { httpClientFor, type TransportOptions } from "../transport-options.ts";

/** The address of a server, and the common parts of its requests. */
export interface ServerAddress {
  /** Address in front of `/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** Requests in flight at once, over all evaluations. */
  readonly concurrency: number;
}

/** The context of one request. */
export interface LabelCall extends AttemptContext {
  /** The state, which no error may repeat. */
  readonly state: unknown;
}

/** A server that all evaluations share: it limits requests in flight and remembers token ids. */
export class LabelConnection {
  readonly model: string;
  readonly #address: ServerAddress;
  readonly #service: JsonService;
  readonly #prepared = new Map<string, ReturnType<typeof prepareJson>>();
  readonly #tokens = new Map<string, readonly number[] | null>();
  readonly #slots: Semaphore;

  constructor(address: ServerAddress, options: TransportOptions) {
    this.model = address.model;
    this.#address = address;
    const { apiKey } = address;
    const http = httpClientFor(options);
    this.#service = { http, apiKey, addedHeaders: options.headers, toError };
    this.#slots = new Semaphore(address.concurrency);
  }

  /** Sends one request if fewer than `concurrency` are in flight, else waits, and reads its JSON. */
  async send(
    { method, path, body }: { method: "GET" | "POST"; path: string; body: object | null },
    call: LabelCall,
  ): Promise<JsonResponse> {
    const send = this.#prepare(method, path);
    const text = body === null ? null : JSON.stringify(body);
    return this.#inSlot(call, () => send(text, call, call.state));
  }

  /** Sends one request to the model, within the service's rate limits too. */
  async post(path: string, body: object, call: LabelCall): Promise<JsonResponse> {
    const send = () => this.send({ method: "POST", path, body }, call);
    // First the rate limit, then the slot: a slot is only for requests in flight.
    return call.inTurn ? call.inTurn(call.signal, send) : send();
  }

  /** Returns the ids of a text's tokens, from a cache if known; null if the server has no such route. */
  async tokenize(text: string, call: LabelCall): Promise<readonly number[] | null> {
    const known = this.#tokens.get(text);
    if (known !== undefined) return known;
    const ids = await this.#askForTokens(text, call);
    this.#tokens.set(text, ids);
    return ids;
  }

  /** Returns the text that no error may repeat. */
  secretsOf(state: unknown): PrivateText {
    return { apiKey: this.#service.apiKey, headers: this.#service.addedHeaders, state };
  }

  /** Closes the connections after their requests end. */
  close(): Promise<void> {
    return this.#service.http.close();
  }

  async #askForTokens(text: string, call: LabelCall): Promise<readonly number[] | null> {
    const body = { model: this.model, prompt: text, add_special_tokens: false };
    try {
      const { json } = await this.send({ method: "POST", path: "/tokenize", body }, call);
      const ids = listAt(json, "tokens");
      return ids.every((id) => Number.isSafeInteger(id)) ? (ids as number[]) : null;
    } catch (error) {
      const isAbsent = error instanceof StatusError && [404, 405, 501].includes(error.status);
      if (isAbsent) return null;
      throw error;
    }
  }

  #prepare(method: "GET" | "POST", path: string): ReturnType<typeof prepareJson> {
    const known = this.#prepared.get(`${method} ${path}`);
    if (known !== undefined) return known;
    const { baseUrl, headers } = this.#address;
    const prepared = prepareJson({ method, url: baseUrl + path, headers }, this.#service);
    this.#prepared.set(`${method} ${path}`, prepared);
    return prepared;
  }

  async #inSlot<TValue>({ signal }: LabelCall, run: () => Promise<TValue>): Promise<TValue> {
    await this.#slots.acquire();
    try {
      signal.throwIfAborted();
      return await run();
    } finally {
      this.#slots.release();
    }
  }
}

/** Makes the error for an error status of any chat server. */
function toError(failure: StatusFailure): StatusError {
  const { response } = failure;
  const { status, json } = response;
  const error = textAt(json, "error", "message") ?? textAt(json, "error");
  const text = error ?? textAt(json, "message") ?? textAt(json, "detail");
  return toStatusError(failure, {
    service: "The server",
    type: textAt(json, "error", "type") ?? textAt(json, "type"),
    text,
    requestId: headerOf(response, "x-request-id"),
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
