import type { EvaluationRequest } from "../../questions/request.ts";
import { quoteServerText } from "../status-failure.ts";
import { whenAborted } from "../../http/http-client.ts";
import type { AttemptContext } from "../../retry/attempt.ts";
import type { LabelModel } from "./ask-question.ts";
import type { LabelConnection } from "./label-connection.ts";
import { statePrompt } from "./prompt.ts";
import type { Reading } from "./question-plan.ts";
import type { FirstToken, LabelServer, LabelToken } from "./label-servers.ts";

/** The answered prompts of each request, so that another attempt does not pay for them again. */
const answered = new WeakMap<EvaluationRequest, Map<string, FirstToken>>();

/**
 * One attempt at one state. The first prompt is sent alone, because it warms the server's cache of
 * the state; the others follow as connections are free, and are aborted if the attempt fails.
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

  /** All answers, in the order of their arrival. */
  get replies(): readonly FirstToken[] {
    return [...this.#kept.values()];
  }

  /** Runs the attempt, and aborts its open requests if it fails. */
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
      stop?.();
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

/** Returns the ids of a text's tokens, or null if the server has no tokenizer route. */
type Tokenize = (text: string) => Promise<readonly number[] | null>;

/** Returns the tokens that are a spelling of a label; null if a label has none. */
async function tokensFor(
  { labels, foldsCase }: Reading,
  tokenize: Tokenize,
): Promise<readonly LabelToken[] | null> {
  const found = await Promise.all(
    labels.map((label) => tokensOfTexts(spellings(label, foldsCase), tokenize)),
  );
  if (found.some((tokens) => tokens.length === 0)) return null;
  return [...new Map(found.flat().map((token) => [token.id, token])).values()];
}

/** Returns whether each label is one token, and no two labels the same one. */
async function singleTokens(labels: readonly string[], tokenize: Tokenize): Promise<boolean> {
  // The last label is the longest number, so it is most likely to be split.
  const [last] = await tokensOfTexts(labels.slice(-1), tokenize);
  if (last === undefined) return false;
  const found = await tokensOfTexts(labels, tokenize);
  return found.length === labels.length && new Set(found.map(({ id }) => id)).size === found.length;
}

async function tokensOfTexts(texts: readonly string[], tokenize: Tokenize): Promise<LabelToken[]> {
  const tokens = await Promise.all(
    texts.map(async (text) => {
      const [id, ...others] = (await tokenize(text)) ?? [];
      return id === undefined || others.length > 0 ? [] : [{ id, text }];
    }),
  );
  return tokens.flat();
}

function spellings(label: string, foldsCase: boolean): readonly string[] {
  const capital = label.charAt(0).toUpperCase() + label.slice(1);
  const cases = foldsCase ? [label, capital, label.toUpperCase()] : [label];
  return cases.flatMap((spelling) => [spelling, ` ${spelling}`]);
}
