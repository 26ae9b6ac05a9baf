import {
  type FinishReason,
  generateText,
  type LanguageModel,
  streamText,
  wrapLanguageModel,
} from "ai";
import type { Redact } from "./redactor.ts";
import {
  type BilledTokens,
  billedTokens,
  type Reply,
  type ReplyForm,
  type ReplyPrompt,
  type ReplySettings,
  type TokenMeter,
  type ToolCallDelta,
  type ToolPiece,
  toTokenUsage,
} from "./reply.ts";
import { toReplyFailure } from "./reply-failure.ts";
import type { ReplyListener } from "./reply-fetch.ts";

/** The models of a reply, its settings and its listeners. */
interface ReplyOptions {
  /** The models to ask in turn if one is rejected or fails before its first word. */
  readonly models: readonly string[];
  /** Returns a model, which passes a streamed reply to the listener. */
  readonly openModel: (model: string, listener: ReplyListener | undefined) => LanguageModel;
  /** Ends the call; its reason is thrown. */
  readonly signal: AbortSignal;
  readonly redact: Redact;
  /** Counts the tokens to pay for, also of a reply that does not end. */
  readonly meter: TokenMeter;
  /** Called before the next model is asked, with the cause. */
  readonly onNext?: (model: string, cause: "model-refused" | "model-failed") => void;
  /** Called with pieces of text; without it, the reply comes whole. */
  readonly onDelta?: ((text: string) => void | Promise<void>) | undefined;
  /** Called with pieces of tool calls, beside `onDelta`. */
  readonly onToolCalls?: ((deltas: readonly ToolCallDelta[]) => void | Promise<void>) | undefined;
  readonly headers?: Record<string, string>;
  readonly settings?: ReplySettings;
  readonly form?: ReplyForm;
  /** Time for the whole call with its retries, in milliseconds. @default 300000 */
  readonly timeoutMs?: number;
  /** Monotonic time in milliseconds. @default performance.now */
  readonly now?: () => number;
}

/** A call of one of the client's tools; the arguments are the model's text, JSON or not. */
type ToolCall = Required<Omit<ToolCallDelta, "index">>;

/** A reply with its end and its cost. */
export interface GeneratedReply extends Reply {
  /** Null if the call failed. */
  readonly finishReason: FinishReason | null;
  /** Null if the model rejected the call, which costs nothing. */
  readonly billed: BilledTokens | null;
  readonly httpError: ReturnType<typeof toReplyFailure>["httpError"];
  /** Empty if they were streamed. */
  readonly toolCalls: readonly ToolCall[];
}

/** Generates a reply to a prompt; a failure is data. */
export async function generateReply(
  prompt: ReplyPrompt,
  options: ReplyOptions,
): Promise<GeneratedReply> {
  const { redact, meter, now = performance.now.bind(performance) } = options;
  const startedAt = now();
  const deltas = redactDeltas(options);
  try {
    const { text, finishReason, ...given } = await askInTurn(prompt, options, deltas);
    await deltas?.end();
    const { inputTokens, outputTokens, totalTokens } = given.usage;
    const usage = toTokenUsage(inputTokens, outputTokens, totalTokens ?? null);
    return {
      replyMs: Math.round(now() - startedAt),
      reply: redact(text),
      toolCalls: given.toolCalls.map(({ id, name, arguments: words }) => {
        return { id, name, arguments: redact(words) };
      }),
      finishReason,
      replyError: null,
      usage,
      httpError: null,
      billed: { usage, isEstimate: false },
    };
  } catch (error) {
    options.signal.throwIfAborted();
    const { replyError, httpError, isUnbilled } = toReplyFailure(error, redact);
    return {
      replyError,
      httpError,
      replyMs: Math.round(now() - startedAt),
      reply: "",
      toolCalls: [],
      finishReason: null,
      usage: null,
      billed: isUnbilled ? null : billedTokens(meter, prompt),
    };
  }
}

async function askInTurn(prompt: ReplyPrompt, options: ReplyOptions, deltas: Deltas | null) {
  const { models, signal, onNext } = options;
  for (let at = 0; ; at += 1) {
    const next = models[at + 1];
    try {
      return await ask(prompt, options, { at, listener: deltas?.listener });
    } catch (error) {
      signal.throwIfAborted();
      const { cause } = toReplyFailure(error, options.redact);
      if (next === undefined || cause === null || deltas?.hasBegun() === true) throw error;
      onNext?.(next, cause);
    }
  }
}

type Deltas = NonNullable<ReturnType<typeof redactDeltas>>;

/** Passes a reply's pieces on without secrets; `end` passes the rest. */
function redactDeltas({ onDelta, onToolCalls, redact, meter }: ReplyOptions) {
  if (onDelta === undefined) return null;
  const pieces = redact.inPieces();
  const calls = onToolCalls && createToolCallStream(redact);
  const passOn = (clear: readonly ToolCallDelta[]) =>
    clear.length === 0 ? undefined : onToolCalls?.(clear);
  let hasBegun = false;
  const listener: ReplyListener = {
    meter,
    onText(text) {
      hasBegun = true;
      meter.characters += text.length;
      const clear = pieces.add(text);
      return clear === "" ? undefined : onDelta(clear);
    },
    onToolCalls(given) {
      hasBegun = true;
      for (const { text } of given) meter.characters += text.length;
      return calls && passOn(calls.add(given));
    },
  };
  const end = async () => {
    const clear = pieces.end();
    if (clear !== "") await onDelta(clear);
    if (calls) await passOn(calls.end());
  };
  return { listener, end, hasBegun: () => hasBegun };
}

/** Asks one model; only the last one is asked again after a temporary failure. */
async function ask(
  prompt: ReplyPrompt,
  { models, openModel, signal, timeoutMs = 300_000, settings, headers, form }: ReplyOptions,
  { at, listener }: { at: number; listener: ReplyListener | undefined },
) {
  const model = openModel(models[at] ?? "", listener);
  const toolCalls: ToolCall[] = [];
  const options = {
    ...settings,
    ...(typeof prompt === "string"
      ? { prompt }
      : { messages: [...prompt], allowSystemInMessages: true }),
    headers: { ...headers },
    model: form === undefined ? model : inForm(model, form, (called) => toolCalls.push(called)),
    abortSignal: signal,
    timeout: timeoutMs,
    ...(at + 1 < models.length && { maxRetries: 0 }),
  };
  if (listener === undefined) {
    const { text, usage, finishReason } = await generateText(options);
    return { text, usage, finishReason, toolCalls };
  }
  for await (const part of streamText({ ...options, onError: () => undefined }).fullStream) {
    if (part.type === "error") throw part.error;
    if (part.type === "abort") throw new DOMException("The reply was cut short.", "TimeoutError");
    if (part.type === "finish") {
      const { totalUsage: usage, finishReason } = part;
      return { text: "", toolCalls, usage, finishReason };
    }
  }
  throw new Error("The reply model's stream ended before its reply did.");
}

/**
 * Returns a model that is asked for the given form. Its tool calls go to the callback and not to the
 * `ai` package, which would parse the arguments and write them anew.
 */
function inForm(
  model: LanguageModel,
  form: ReplyForm,
  onToolCall: (call: ToolCall) => void,
): LanguageModel {
  if (typeof model === "string" || model.specificationVersion !== "v4") return model;
  return wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: "v4",
      transformParams: async ({ params }) => ({ ...params, ...form }),
      async wrapGenerate({ doGenerate }) {
        const result = await doGenerate();
        const content = result.content.filter((part) => {
          if (part.type !== "tool-call") return true;
          const input: unknown = part.input; // the `ai` package does not check the gateway's answers
          const text = typeof input === "string" ? input : JSON.stringify(input ?? {});
          onToolCall({ id: part.toolCallId, name: part.toolName, arguments: text });
          return false;
        });
        return { ...result, content };
      },
    },
  });
}

/** Creates a stream that numbers the pieces of tool calls and redacts them. */
function createToolCallStream(redact: Redact) {
  const begin = (index: number) => {
    return { index, redactor: redact.inPieces(), hasBegun: false, hasText: false };
  };
  const calls = new Map<string | number, ReturnType<typeof begin>>();
  return {
    /** Returns the deltas that are clear after these pieces. */
    add(pieces: readonly ToolPiece[]): ToolCallDelta[] {
      return pieces.flatMap(({ key, id, name, text, isWhole = false }) => {
        const call = calls.get(key) ?? begin(calls.size);
        calls.set(key, call);
        const added = isWhole && call.hasText ? "" : text; // it came in pieces before
        call.hasText ||= added !== "";
        const clear = call.redactor.add(added);
        if (call.hasBegun && clear === "") return [];
        const head = call.hasBegun ? {} : { id: id ?? `call_${call.index}`, name: name ?? "" };
        call.hasBegun = true;
        return [{ index: call.index, ...head, arguments: clear }];
      });
    },
    end(): ToolCallDelta[] {
      return [...calls.values()].flatMap(({ index, redactor }) => {
        const left = redactor.end();
        return left === "" ? [] : [{ index, arguments: left }];
      });
    },
  };
}
