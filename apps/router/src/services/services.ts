import type { LanguageModel } from "ai";
import type {
  Catalog,
  Evaluator,
  Tracing as EvaluatorTracing,
  TransportName,
} from "evaluator-client";
import type { Environment } from "evaluator-kit";
import type { Redact } from "../reply/redactor.ts";
import type { ReplyListener } from "../reply/reply-fetch.ts";

interface ModelCall {
  /** Gets a streamed reply. */
  readonly listener?: ReplyListener | undefined;
  /** The client's own request in OpenAI's form. */
  readonly body?: Record<string, unknown> | undefined;
}

/** The caller's own trace, in W3C's headers. */
export interface TraceHeaders {
  readonly traceparent?: string;
  readonly tracestate?: string;
}

/** The last attributes of a reply's span. */
interface TracedReply {
  readonly model: string;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly hasFailed: boolean;
}

/** Traces requests, evaluations and replies. */
export interface Tracing {
  readonly evaluation: EvaluatorTracing;
  /** Runs a request, which returns its status, as a span. */
  request(
    request: { method: string; path: string; requestId: string; trace: TraceHeaders },
    work: () => Promise<number>,
  ): Promise<void>;
  /** Runs a reply of a model as a span. */
  reply<TResult>(
    model: string,
    work: (endSpan: (reply: TracedReply) => void) => Promise<TResult>,
  ): Promise<TResult>;
  /** Returns the headers that continue the trace. */
  headers(): Record<string, string>;
  /** Sends the remaining spans. */
  close(): Promise<void>;
}

/** All services of a router. */
export interface Services {
  readonly evaluator: Evaluator;
  /** The evaluator's transport and its address, without user name or password. */
  readonly engineAddress: string;
  /** Describes the service that decides. */
  readonly decider: string;
  readonly close: () => Promise<void>;
  readonly languageModel: (modelId: string, call?: ModelCall) => LanguageModel;
  /** Whether replies accept an unchanged request in OpenAI's form, and models of any name. */
  readonly takesOpenAi: boolean;
  /** Lists models and prices; null without a price list. */
  readonly catalog: Catalog | null;
  /** Describes the service that replies. */
  readonly replier: string;
  /** Removes the keys in use from a text. */
  readonly redact: Redact;
  readonly tracing?: Tracing | null;
  /** Describes the services for a person. */
  readonly notice: string;
  /** Whether the emulator in this process decides or replies. */
  readonly isEmulated: boolean;
}

/** The server that replies. */
export type ReplyServer =
  | {
      readonly kind: "gateway";
      readonly apiKey: string;
      /** Address in front of `/language-model`; undefined for the gateway's own. */
      readonly baseUrl: string | undefined;
      /** For the price list's own options. */
      readonly env: Environment;
    }
  | {
      readonly kind: "openai-compatible";
      /** Null if it needs none. */
      readonly apiKey: string | null;
      /** Address in front of `/chat/completions`. */
      readonly baseUrl: string;
    };

/** The services to connect; the emulator replaces each one that is null. */
export interface EngineOptions {
  /** For the options of the evaluator's transport. */
  readonly evaluator: Environment | null;
  readonly reply: ReplyServer | null;
  /** Every key in the settings. */
  readonly secrets: readonly string[];
}

const transportUses = {
  gateway: { isEmulatedWithoutKey: true, asksChatModel: false },
  direct: { isEmulatedWithoutKey: false, asksChatModel: false },
  logprobs: { isEmulatedWithoutKey: false, asksChatModel: true },
} satisfies Record<TransportName, object>;

/** Returns how the router uses a transport; null for an unknown name. */
export function transportUse(name: string) {
  if (!Object.hasOwn(transportUses, name)) return null;
  const known = name as TransportName;
  return { ...transportUses[known], name: known };
}
