import { randomUUID } from "node:crypto";
import {
  JSONParseError,
  type LanguageModelV4FinishReason,
  type LanguageModelV4GenerateResult,
  type SharedV4ProviderMetadata,
  type SharedV4Warning,
} from "@ai-sdk/provider";
import { parseJson } from "evaluator-kit";
import type { Conversation } from "../conversation/conversation.ts";
import { mergeMetadata, type Signature, type SignedPart } from "../conversation/signatures.ts";
import {
  BrokenReplyError,
  brokenOff,
  MAX_REPLY_BYTES,
  notJson,
  toBrokenReply,
  tooLarge,
} from "./broken-reply.ts";
import type { Redact } from "./redactor.ts";
import type { ReplyEnd, ReplyPiece } from "./reply-piece.ts";
import { estimateDelta, mergeKnown, type TokenMeter } from "./usage.ts";
import { addUsage, mayHaveUsage, toTokenUsage } from "./usage-forms.ts";

interface PiecesOptions {
  /** Clients find a call by its id: one of the conversation is not used again. */
  readonly conversation?: Conversation;
  readonly redact: Redact;
  readonly meter: TokenMeter;
  /** Called at the end of a block with a signature. */
  readonly onSigned: (part: SignedPart) => void;
  /** Called with the settings that the service does not have. */
  readonly onWarnings?: ((warnings: readonly SharedV4Warning[]) => void) | undefined;
}

/** A part of a language model's stream, unchecked. */
type StreamPart = Readonly<Record<string, unknown>>;

/** Converts the parts of a language model's stream to pieces without secrets. */
export class ReplyPieces {
  readonly #options: PiecesOptions;
  #callIds: Set<string> | null = null;
  readonly #open = new Map<string, Block>();
  #deltas: Delta[] = [];
  #blocks = 0;
  #bytes = 0;
  #end: ReplyEnd | null = null;
  #isBroken = false;

  constructor(options: PiecesOptions) {
    this.#options = options;
  }

  /** Adds a part. @throws BrokenReplyError for an error, and at the limit, without the part. */
  add(event: object): void {
    const part = event as StreamPart;
    switch (part["type"]) {
      case "stream-start":
        return this.#options.onWarnings?.(part["warnings"] as readonly SharedV4Warning[]);
      case "text-delta":
        return this.#append(this.#toBlock("text", part["id"]), part["delta"]);
      case "reasoning-start":
      case "reasoning-delta":
        return this.#append(this.#toBlock("reasoning", part["id"], part), part["delta"]);
      case "tool-input-start":
        this.#toBlock("toolCall", part["id"], part);
        return;
      case "tool-input-delta":
        return this.#append(this.#toBlock("toolCall", part["id"]), part["delta"]);
      case "text-end":
        return this.#close(this.#open.get(toName("text", part["id"])));
      case "reasoning-end":
        return this.#close(this.#toBlock("reasoning", part["id"], part));
      case "tool-call":
        return this.#addCall(this.#toBlock("toolCall", part["toolCallId"], part), part["input"]);
      case "error":
        throw toFailure(part["error"]);
      case "finish":
        return this.#finish(part);
      default:
    }
  }

  /** Reads the usage in a service's event, of which a provider reads its own form only. */
  readUsage(json: string): void {
    if (mayHaveUsage.test(json)) addUsage(this.#options.meter, parseJson(json));
  }

  /** Adds a reply that is not streamed. */
  addWhole({ content, ...end }: LanguageModelV4GenerateResult): void {
    this.#options.onWarnings?.(end.warnings);
    addUsage(this.#options.meter, end.response?.body);
    for (const [id, part] of content.entries()) {
      if (part.type === "tool-call") this.add(part);
      if (part.type !== "text" && part.type !== "reasoning") continue;
      this.add({ type: `${part.type}-delta`, id, delta: part.text });
      this.add({ ...part, type: `${part.type}-end`, id });
    }
    this.#finish(end);
  }

  /** Returns the pieces that are clear after the parts so far, except those returned before. */
  take(): readonly ReplyPiece[] {
    const pieces: ReplyPiece[] = [];
    for (const delta of this.#deltas) {
      const piece = this.#toPiece(delta);
      if (piece !== null) pieces.push(piece);
    }
    this.#deltas = [];
    return pieces;
  }

  /** Returns the end of the reply. @throws BrokenReplyError if it broke off */
  end(): ReplyEnd {
    if (this.#end === null || this.#isBroken) throw new BrokenReplyError(brokenOff);
    return this.#end;
  }

  #toBlock(type: Block["type"], id: unknown, part?: StreamPart): Block {
    const block = this.#open.get(toName(type, id)) ?? this.#begin(type, id, part);
    const metadata = part?.["providerMetadata"];
    if (metadata) block.metadata = mergeMetadata(block.metadata, metadata as Metadata);
    return block;
  }

  #begin(type: Block["type"], id: unknown, part: StreamPart = {}): Block {
    // Some services never end a text, and a client's next block begins after this one.
    for (const open of this.#open.values()) if (open.type !== "toolCall") this.#close(open);
    const name = toName(type, id);
    const head = type === "toolCall" ? this.#toHead(id, part["toolName"]) : null;
    const redactor = this.#options.redact.inPieces();
    const key = `${type}-${this.#blocks}`;
    const block = { type, name, key, callId: head?.id ?? "", redactor, text: "", hasText: false };
    this.#blocks += 1;
    this.#open.set(name, block);
    if (head !== null) this.#deltas.push({ block, text: "", head });
    return block;
  }

  /** The deltas of a chunk become one piece. */
  #append(block: Block, delta: unknown): void {
    if (typeof delta !== "string" || delta === "") return;
    this.#bytes += Buffer.byteLength(delta);
    if (this.#bytes > MAX_REPLY_BYTES) throw new BrokenReplyError(tooLarge);
    // Some services begin with an empty object and send the whole arguments after it.
    if (block.type === "toolCall" && !block.hasText && delta.trim() === "{}") return;
    this.#options.meter.written += estimateDelta(delta);
    block.hasText = true;
    this.#write(block, delta);
  }

  #write(block: Block, text: string): void {
    const last = this.#deltas.at(-1);
    if (last?.block === block) last.text += text;
    else this.#deltas.push({ block, text });
  }

  /** The whole arguments; they may have come in pieces before. */
  #addCall(block: Block, input: unknown): void {
    const text = typeof input === "string" ? input : JSON.stringify(input ?? {});
    if (!block.hasText) this.#append(block, text);
    this.#close(block);
  }

  #close(block: Block | undefined): void {
    if (block === undefined) return;
    this.#open.delete(block.name);
    if (block.type === "toolCall" && !block.hasText) this.#write(block, "{}");
    this.#deltas.push({ block, text: null });
  }

  /** A missing id is made up: the client's result of the call names it. */
  #toHead(id: unknown, name: unknown) {
    const callIds = (this.#callIds ??= listCallIds(this.#options.conversation));
    const isNew = typeof id === "string" && id !== "" && !callIds.has(id);
    const callId = isNew ? id : `call_${randomUUID()}`;
    callIds.add(callId);
    return { id: callId, name: typeof name === "string" ? name : "" };
  }

  #toPiece({ block, text: delta, head }: Delta): ReplyPiece | null {
    const { type, key, callId: id, redactor } = block;
    const text = delta === null ? redactor.end() : redactor.add(delta);
    const signature = delta === null && block.metadata ? toSignature(block.metadata) : null;
    if (type !== "text") block.text += text;
    if (signature !== null) this.#options.onSigned({ type, id, text: block.text, signature });
    if (head === undefined && signature === null) return text === "" ? null : { type, key, text };
    return { type, key, text, ...head, ...(signature && { signature }) };
  }

  #finish({ finishReason, usage, providerMetadata }: StreamPart): void {
    for (const block of this.#open.values()) this.#close(block);
    const { meter } = this.#options;
    const { gateway } = Object(providerMetadata) as Metadata;
    const reportedUsage = toTokenUsage(usage, gateway?.["marketCost"]);
    // The service's own events are read already; a provider reads only its own form of them.
    const counts = meter.reported ? mergeKnown(reportedUsage, meter.reported) : reportedUsage;
    meter.reported = counts;
    const { unified: reason, raw } = (finishReason ?? {}) as Partial<LanguageModelV4FinishReason>;
    const isKnown = wholeReasons.has(reason) && !/^malformed_function_call$/i.test(raw ?? "");
    this.#isBroken = !isKnown && (reason !== "other" || raw === undefined || this.#blocks === 0);
    const stopText = (providerMetadata as Metadata | undefined)?.["anthropic"]?.["stopSequence"];
    const stopSequence = typeof stopText === "string" ? stopText : undefined;
    this.#end = { finishReason: reason ?? "other", usage: counts, stopSequence };
  }
}

/** The reasons of a whole reply; `other` is one if the service gives its own reason and content. */
const wholeReasons: ReadonlySet<unknown> = new Set([
  "stop",
  "length",
  "content-filter",
  "tool-calls",
]);

type Metadata = SharedV4ProviderMetadata;

interface Block {
  readonly type: ReplyPiece["type"];
  /** Its type and the service's id. */
  readonly name: string;
  readonly key: string;
  readonly callId: string;
  readonly redactor: ReturnType<Redact["inPieces"]>;
  /** The text of the pieces so far; not kept of a text. */
  text: string;
  hasText: boolean;
  metadata?: Metadata;
}

interface Delta {
  readonly block: Block;
  /** Null at the block's end. */
  text: string | null;
  /** At the beginning of a tool call. */
  readonly head?: { readonly id: string; readonly name: string };
}

function listCallIds(conversation: Conversation | undefined): Set<string> {
  const parts = conversation?.messages.flatMap((message) => message.parts) ?? [];
  return new Set(parts.flatMap((part) => (part.type === "toolCall" ? part.id : [])));
}

function toName(type: Block["type"], id: unknown): string {
  return `${type} ${String(id)}`;
}

/** The providers' names of the opaque value that proves a part of a reply. */
const signatureFields = [
  "signature",
  "thoughtSignature",
  "reasoningEncryptedContent",
  "redactedData",
];

function toSignature(metadata: Metadata): Signature | null {
  const values = Object.values(metadata).flatMap((each) =>
    signatureFields.map((name) => each[name]),
  );
  const value = values.find((each) => typeof each === "string" && each !== "");
  return typeof value === "string" ? { value, metadata } : null;
}

function toFailure(error: unknown): BrokenReplyError {
  if (JSONParseError.isInstance(error)) return new BrokenReplyError(notJson); // its own message repeats the text
  return toBrokenReply(error);
}
