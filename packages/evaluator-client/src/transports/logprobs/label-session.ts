import type { EvaluationRequest } from "../../questions/request.ts";
import { quoteServerText } from "../status-failure.ts";
import { whenAborted } from "../../http/http-client.ts";
import type { AttemptContext } from "../../retry/attempt.ts";
import type { LabelModel } from "./ask-question.ts";
import type { LabelConnection } from "./label-connection.ts";
import { statePrompt } from "./prompt.ts";
import type { Reading } from "./question-plan.ts";
import type { FirstToken, LabelServer, LabelToken } from "./servers/server.ts";
import { singleTokens, tokensFor } from "./label-tokens.ts";

/** What was answered so far of each request, so that another attempt does not pay for it again. */
const answered = new WeakMap<EvaluationRequest, Map<string, FirstToken>>();

/**
 * One attempt at one state: its first prompt goes alone and warms the server's cache of the state,
 * the others follow as connections are free, and all of them end when it does.
 */
export class LabelSession implements LabelModel {
  readonly depths: readonly number[];
  readonly #server: LabelServer;
  readonly #connection: LabelConnection;
  readonly #request: EvaluationRequest;
  readonly #context: AttemptContext;
  readonly #controller = new AbortController();
  readonly #kept: Map<string, FirstToken>;
  readonly #prefix: string;
  #first: Promise<unknown> | null = null;

  constructor(
    server: LabelServer,
    {
      connection,
      request,
      context,
    }: { connection: LabelConnection; request: EvaluationRequest; context: AttemptContext },
  ) {
    this.depths = server.depths;
    this.#server = server;
    this.#connection = connection;
    this.#request = request;
    this.#context = context;
    this.#prefix = statePrompt(request.state);
    this.#kept = answered.get(request) ?? new Map<string, FirstToken>();
    answered.set(request, this.#kept);
  }

  /** Everything that was answered, in the order of the answers. */
  get replies(): readonly FirstToken[] {
    return [...this.#kept.values()];
  }

  /** Runs the whole attempt; what is still under way when it fails is aborted. */
  async run<TValue>(ask: () => Promise<TValue>): Promise<TValue> {
    const stop = whenAborted(this.#context, (reason) => this.#controller.abort(reason));
    try {
      const value = await ask();
      answered.delete(this.#request);
      return value;
    } catch (error) {
      this.#controller.abort(error);
      throw error;
    } finally {
      stop();
    }
  }

  async ask(
    { prompt }: Reading,
    { depth, tokenIds }: { depth: number; tokenIds: readonly LabelToken[] | null },
  ): Promise<FirstToken> {
    const key = `${depth} ${prompt}`;
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    const { model } = this.#connection;
    const whole = { model, prompt: this.#prefix + prompt, depth, tokenIds };
    const first = await this.#afterFirst(() => this.#server.ask(whole, this.#post));
    this.#kept.set(key, first);
    return first;
  }

  async tokensOf(reading: Reading): Promise<readonly LabelToken[] | null> {
    return this.#server.takesTokenIds ? tokensFor(reading, this.#tokenize) : null;
  }

  async areSingleTokens(labels: readonly string[]): Promise<boolean> {
    return this.#server.takesTokenIds && singleTokens(labels, this.#tokenize);
  }

  quoteToken(token: string): string | null {
    const text = token.trim();
    const isOfState = text.length > 3 && JSON.stringify(this.#request.state).includes(text);
    if (isOfState) return null;
    const secrets = this.#connection.secretsOf(this.#request.state);
    return quoteServerText(text.slice(0, 40), secrets) ?? (text === "" ? '""' : null);
  }

  readonly #post = (path: string, body: object) => this.#connection.post(path, body, this.#call());

  readonly #tokenize = (text: string) => this.#connection.tokenize(text, this.#call());

  #call() {
    const { signal } = this.#controller;
    const { clock, headers } = this.#context;
    const inTurn = this.#context.inTurn?.bind(this.#context);
    return { signal, clock, headers, state: this.#request.state, ...(inTurn && { inTurn }) };
  }

  #afterFirst<TValue>(ask: () => Promise<TValue>): Promise<TValue> {
    if (this.#first !== null) return this.#first.then(ask);
    const first = ask();
    this.#first = first;
    return first;
  }
}
