import type { EvaluationRequest } from "../../questions/request.ts";
import type { AttemptContext } from "../transport.ts";
import type { LabelConnection } from "./label-connection.ts";
import type { FirstToken, LabelServer } from "./label-servers.ts";
import { type Reading, statePrompt } from "./question-plan.ts";

/** The answered prompts of each request, so that another attempt does not pay for them again. */
const tokensOfRequests = new WeakMap<EvaluationRequest, Map<string, FirstToken>>();

/**
 * One attempt at one state. The first prompt is sent alone, because it warms the server's cache of
 * the state; the others follow as connections are free, and are aborted if the attempt fails.
 */
export class LabelSession {
  readonly server: LabelServer;
  readonly #connection: LabelConnection;
  readonly #request: EvaluationRequest;
  readonly #controller = new AbortController();
  readonly #call: Parameters<LabelConnection["send"]>[2];
  readonly #inTurn: NonNullable<AttemptContext["inTurn"]>;
  readonly #firstTokens: Map<string, FirstToken>;
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
    this.#firstTokens = tokensOfRequests.get(request) ?? new Map<string, FirstToken>();
    tokensOfRequests.set(request, this.#firstTokens);
  }

  /** All answers, in the order of their arrival. */
  get replies(): readonly FirstToken[] {
    return [...this.#firstTokens.values()];
  }

  /** Runs the attempt, and aborts its open requests if it fails. */
  async run<TValue>(ask: () => Promise<TValue>): Promise<TValue> {
    try {
      const value = await ask();
      tokensOfRequests.delete(this.#request);
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
    const knownFirstToken = this.#firstTokens.get(key);
    if (knownFirstToken !== undefined) return knownFirstToken;
    const whole = { model: this.#connection.model, prompt: this.#prefix + prompt, depth, tokenIds };
    const call = this.#call;
    const post = (path: string, body: object) =>
      this.#inTurn(call.signal, () => this.#connection.send(path, body, call));
    const ask = () => this.server.ask(whole, post);
    const askedPromise = this.#first === null ? ask() : this.#first.then(ask);
    this.#first ??= askedPromise;
    const first = await askedPromise;
    this.#firstTokens.set(key, first);
    return first;
  }

  /** Returns the tokens that spell a label; null if a label has none or a request cannot name tokens. */
  async tokensOf({ labels, foldsCase }: Reading) {
    if (!this.server.takesTokenIds) return null;
    const spelledPromises = labels.map((label) => this.#tokensOfTexts(spellings(label, foldsCase)));
    const foundItemLists = await Promise.all(spelledPromises);
    if (foundItemLists.some((tokens) => tokens.length === 0)) return null;
    return [...new Map(foundItemLists.flat().map((token) => [token.id, token])).values()];
  }

  /** Returns whether each label is known to be one token, and no two labels the same one. */
  async areSingleTokens(labels: readonly string[]): Promise<boolean> {
    if (!this.server.takesTokenIds) return false;
    // The last label is the longest number, so it is most likely to be split.
    const [last] = await this.#tokensOfTexts(labels.slice(-1));
    if (last === undefined) return false;
    const labelTokens = await this.#tokensOfTexts(labels);
    return new Set(labelTokens.map(({ id }) => id)).size === labels.length;
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
