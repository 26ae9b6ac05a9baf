import type { LanguageModel } from "ai";
import type { Environment } from "evaluator-kit";
import type {
  Catalog,
  Evaluator,
  Tracing as EvaluatorTracing,
  TransportName,
} from "evaluator-client";
import type { ReplyListener } from "../reply/reply-fetch.ts";
import type { Redact } from "../security/redactor.ts";

/** Who decides. */
export interface EvaluationEngine {
  /** Chooses the tier. */
  readonly evaluator: Evaluator;
  /** The transport and the address behind it, without user name or password. */
  readonly engineAddress: string;
  /** Who is asked, in words for a person. */
  readonly decider: string;
  /** Lets go of everything held open. */
  readonly close: () => Promise<void>;
}

/** What a text model is asked with, beside what the `ai` package gives it. */
interface ModelCall {
  /** Who is given the streamed reply. */
  readonly listener?: ReplyListener | undefined;
  /** The client's own request in OpenAI's form. */
  readonly body?: Record<string, unknown> | undefined;
}

/** Who replies. */
export interface ReplyEngine {
  /** Returns the text model with this id. */
  readonly languageModel: (modelId: string, call?: ModelCall) => LanguageModel;
  /** Whether it takes a request in OpenAI's form as it came, and models of any name. */
  readonly takesOpenAi: boolean;
  /** Lists models and prices; null where nobody does. */
  readonly catalog: Catalog | null;
  /** In words for a person. */
  readonly replier: string;
}

/** The caller's own trace, as W3C's headers name it. */
export interface TraceHeaders {
  readonly traceparent?: string;
  readonly tracestate?: string;
}

/** What a reply's span gets at its end. */
interface TracedReply {
  readonly model: string;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly hasFailed: boolean;
}

/** Where what happens is traced. */
export interface Tracing {
  /** Traces every evaluation. */
  readonly evaluation: EvaluatorTracing;
  /** Runs a request, which gives its status, as a span. */
  request(
    request: { method: string; path: string; requestId: string; trace: TraceHeaders },
    work: () => Promise<number>,
  ): Promise<void>;
  /** Runs a reply of a model as a span. */
  reply<TResult>(
    model: string,
    work: (endSpan: (reply: TracedReply) => void) => Promise<TResult>,
  ): Promise<TResult>;
  /** Returns the headers that carry the trace on. */
  headers(): Record<string, string>;
  /** Sends what is left. */
  close(): Promise<void>;
}

/** Everything outside the router: who decides, who replies, and what must not be printed. */
export interface Services extends EvaluationEngine, ReplyEngine {
  /** Takes the keys in use out of a text. */
  readonly redact: Redact;
  /** Null where nothing is traced. @default null */
  readonly tracing?: Tracing | null;
  /** Who decides and who replies, in words for a person. */
  readonly notice: string;
  /** Whether the emulator on this machine decides or replies. */
  readonly isEmulated: boolean;
}

/** The gateway, as replies come from it. */
interface GatewayServer {
  readonly kind: "gateway";
  readonly apiKey: string;
  /** Address in front of `/language-model`; the gateway's own when undefined. */
  readonly baseUrl: string | undefined;
  /** What the price list's own options are read from. */
  readonly env: Environment;
}

/** A server that speaks OpenAI's chat API, such as one on this machine. */
export interface OpenAiCompatibleServer {
  readonly kind: "openai-compatible";
  /** Null where it wants none. */
  readonly apiKey: string | null;
  /** Address in front of `/chat/completions`. */
  readonly baseUrl: string;
}

/** Where replies come from. */
export type ReplyServer = GatewayServer | OpenAiCompatibleServer;

/** How to reach who decides and who replies; the emulator takes the part of whoever is null. */
export interface EngineOptions {
  /** What the evaluator's transport reads its own options from. */
  readonly evaluator: Environment | null;
  readonly reply: ReplyServer | null;
  /** Every key in the settings, none of which is ever printed. */
  readonly secrets: readonly string[];
}

/** What the router makes of a transport to the evaluation model. */
interface TransportUse {
  /** Whether the emulator decides where it has no key. */
  readonly isEmulatedWithoutKey: boolean;
  /** Whether it asks a chat model, which can also reply. */
  readonly asksChatModel: boolean;
}

/** What the router makes of each transport. */
const transportUses = {
  gateway: { isEmulatedWithoutKey: true, asksChatModel: false },
  direct: { isEmulatedWithoutKey: false, asksChatModel: false },
  logprobs: { isEmulatedWithoutKey: false, asksChatModel: true },
} satisfies Record<TransportName, TransportUse>;

/** Returns what the router makes of a transport; null where it has no name that is known. */
export function transportUse(
  name: string,
): (TransportUse & { readonly name: TransportName }) | null {
  if (!Object.hasOwn(transportUses, name)) return null;
  const known = name as TransportName;
  return { ...transportUses[known], name: known };
}

/** Which limit several routers share, and where they agree on it. */
export interface SharedLimitOptions {
  /** Address of the database; never printed. */
  readonly url: string;
  /** Requests a minute of all of them together; null for the engine's own limit, else 1,200. */
  readonly requestsPerMinute: number | null;
}
