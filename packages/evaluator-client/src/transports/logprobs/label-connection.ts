import { StatusError } from "../../errors.ts";
import type { JsonResponse } from "../../http/http-response.ts";
import { listAt, textAt } from "../../questions/json.ts";
import type { EvaluationRequest } from "../../questions/request.ts";
import {
  httpClientFor,
  prepareJson,
  type readServer,
  type TransportOptions,
} from "../post-transport.ts";
import type { AttemptContext } from "../transport.ts";
import { Semaphore } from "../../semaphore.ts";
import { quoteServerText } from "../status-failure.ts";
import {
  type FirstToken,
  type LabelServer,
  labelServers,
  type LabelServerName,
  toServerError,
} from "./label-servers.ts";
import { type Reading, statePrompt } from "./question-plan.ts";

/** A server, and the common parts of its requests. */
interface ServerAddress extends ReturnType<typeof readServer> {
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

  constructor(address: ServerAddress, options: TransportOptions) {
    const { model, apiKey, concurrency, server } = address;
    this.model = model;
    this.#address = address;
    const http = httpClientFor(options);
    this.#service = { http, apiKey, addedHeaders: options.headers, toError: toServerError };
    this.#slots = new Semaphore(concurrency);
    this.#kind = server === "auto" ? null : server;
  }

  /** Returns the kind of server, detected once for all evaluations; after an error the next call asks again. */
  async findServer(call: LabelCall): Promise<LabelServer> {
    if (this.#kind !== null) return labelServers[this.#kind];
    await this.#detection.acquire();
    try {
      this.#kind ??= await this.#detect(call);
      return labelServers[this.#kind];
    } finally {
      this.#detection.release();
    }
  }

  /** Returns the ids of a text's tokens, from a cache if known; null if the server has no such route. */
  async tokenize(text: string, call: LabelCall): Promise<readonly number[] | null> {
    const known = this.#tokens.get(text);
    const ids = known === undefined ? await this.#askForTokens(text, call) : known;
    this.#tokens.set(text, ids);
    return ids;
  }

  /** Quotes a server's text for a message; null if it repeats private text. */
  quote(text: string, state: unknown): string | null {
    const { apiKey, addedHeaders: headers } = this.#service;
    return quoteServerText(text, { apiKey, headers, state });
  }

  /** Closes the connections after their requests end. */
  close(): Promise<void> {
    return this.#service.http.close();
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
    await this.#slots.acquire();
    try {
      call.signal.throwIfAborted();
      return await send(body === null ? null : JSON.stringify(body), call, call.state);
    } finally {
      this.#slots.release();
    }
  }
}

/** The answered prompts of each request, so that another attempt does not pay for them again. */
const answered = new WeakMap<EvaluationRequest, Map<string, FirstToken>>();

/**
 * One attempt at one state. The first prompt is sent alone, because it warms the server's cache of
 * the state; the others follow as connections are free, and are aborted if the attempt fails.
 */
export class LabelSession {
  readonly server: LabelServer;
  readonly #connection: LabelConnection;
  readonly #request: EvaluationRequest;
  readonly #controller = new AbortController();
  readonly #call: LabelCall;
  readonly #inTurn: NonNullable<AttemptContext["inTurn"]>;
  readonly #kept: Map<string, FirstToken>;
  readonly #prefix: string;
  #first: Promise<unknown> | null = null;

  constructor(
    server: LabelServer,
    connection: LabelConnection,
    { request, context }: { request: EvaluationRequest; context: AttemptContext },
  ) {
    this.server = server;
    this.#connection = connection;
    this.#request = request;
    const { clock, headers } = context;
    const signal = AbortSignal.any([context.signal, this.#controller.signal]);
    this.#call = { signal, clock, headers, state: request.state };
    // First the rate limit, then a slot of the connection, which is only for requests in flight.
    this.#inTurn = context.inTurn?.bind(context) ?? ((_, send) => send());
    this.#prefix = statePrompt(request.state);
    this.#kept = answered.get(request) ?? new Map<string, FirstToken>();
    answered.set(request, this.#kept);
  }

  /** All answers, in the order of their arrival. */
  get replies(): readonly FirstToken[] {
    return [...this.#kept.values()];
  }

  /** Runs the attempt, and aborts its open requests if it fails. */
  async run<TValue>(ask: () => Promise<TValue>): Promise<TValue> {
    try {
      const value = await ask();
      answered.delete(this.#request);
      return value;
    } catch (error) {
      this.#controller.abort(error);
      throw error;
    }
  }

  /** Asks one prompt, unless an attempt before has its answer. */
  async ask(
    { prompt }: Reading,
    { depth, tokenIds }: Pick<Parameters<LabelServer["ask"]>[0], "depth" | "tokenIds">,
  ): Promise<FirstToken> {
    const key = `${depth} ${prompt}`;
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    const whole = { model: this.#connection.model, prompt: this.#prefix + prompt, depth, tokenIds };
    const call = this.#call;
    const post = (path: string, body: object) =>
      this.#inTurn(call.signal, () => this.#connection.send(path, body, call));
    const ask = () => this.server.ask(whole, post);
    const asked = this.#first === null ? ask() : this.#first.then(ask);
    this.#first ??= asked;
    const first = await asked;
    this.#kept.set(key, first);
    return first;
  }

  /** Returns the tokens that spell a label; null if a label has none or a request cannot name tokens. */
  async tokensOf({ labels, foldsCase }: Reading) {
    if (!this.server.takesTokenIds) return null;
    const spelled = labels.map((label) => this.#tokensOfTexts(spellings(label, foldsCase)));
    const found = await Promise.all(spelled);
    if (found.some((tokens) => tokens.length === 0)) return null;
    return [...new Map(found.flat().map((token) => [token.id, token])).values()];
  }

  /** Returns whether each label is known to be one token, and no two labels the same one. */
  async areSingleTokens(labels: readonly string[]): Promise<boolean> {
    if (!this.server.takesTokenIds) return false;
    // The last label is the longest number, so it is most likely to be split.
    const [last] = await this.#tokensOfTexts(labels.slice(-1));
    if (last === undefined) return false;
    const found = await this.#tokensOfTexts(labels);
    return new Set(found.map(({ id }) => id)).size === labels.length;
  }

  /** Returns a token in quotes for a message, or null if it may be private. */
  quoteToken(token: string): string | null {
    const { state } = this.#request;
    const text = token.trim();
    if (text.length > 3 && JSON.stringify(state).includes(text)) return null;
    return this.#connection.quote(text.slice(0, 40), state) ?? (text === "" ? '""' : null);
  }

  async #tokensOfTexts(texts: readonly string[]) {
    const tokens = await Promise.all(
      texts.map(async (text) => {
        const ids = await this.#connection.tokenize(text, this.#call);
        const [id, ...others] = ids ?? [];
        return id === undefined || others.length > 0 ? [] : [{ id, text }];
      }),
    );
    return tokens.flat();
  }
}

function spellings(label: string, foldsCase: boolean): readonly string[] {
  const capital = label.charAt(0).toUpperCase() + label.slice(1);
  const cases = foldsCase ? [label, capital, label.toUpperCase()] : [label];
  return cases.flatMap((spelling) => [spelling, ` ${spelling}`]);
}
