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
  readonly onSigned: (signedPart: SignedPart) => void;
  /** Called with the settings that the service does not have. */
  readonly onWarnings?: ((warnings: readonly SharedV4Warning[]) => void) | undefined;
}

/** A part of a language model's stream, unchecked. */
type StreamPart = Readonly<Record<string, unknown>>;

/** Converts the parts of a language model's stream to pieces without secrets. */
export class ReplyPieces {
  readonly #options: PiecesOptions;
  #callIds: Set<string> | null = null;
  readonly #openBlocks = new Map<string, Block>();
  #waitingDeltas: Delta[] = [];
  #blocks = 0;
  #byteCount = 0;
  #replyEnd: ReplyEnd | null = null;
  #isBroken = false;

  constructor(options: PiecesOptions) {
    this.#options = options;
  }

  /** Adds a part. @throws BrokenReplyError for an error, and at the limit, without the part. */
  add(streamEvent: object): void {
    const part = streamEvent as StreamPart;
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
        return this.#close(this.#openBlocks.get(toName("text", part["id"])));
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
  readUsage(eventJson: string): void {
    if (mayHaveUsage.test(eventJson)) addUsage(this.#options.meter, parseJson(eventJson));
  }

  /** Adds a reply that is not streamed. */
  addWhole({ content, ...wholeEnd }: LanguageModelV4GenerateResult): void {
    this.#options.onWarnings?.(wholeEnd.warnings);
    addUsage(this.#options.meter, wholeEnd.response?.body);
    for (const [id, contentPart] of content.entries()) {
      if (contentPart.type === "tool-call") this.add(contentPart);
      if (contentPart.type !== "text" && contentPart.type !== "reasoning") continue;
      this.add({ type: `${contentPart.type}-delta`, id, delta: contentPart.text });
      this.add({ ...contentPart, type: `${contentPart.type}-end`, id });
    }
    this.#finish(wholeEnd);
  }

  /** Returns the pieces that are clear after the parts so far, except those returned before. */
  take(): readonly ReplyPiece[] {
    const takenPieces: ReplyPiece[] = [];
    for (const waitingDelta of this.#waitingDeltas) {
      const takenPiece = this.#toPiece(waitingDelta);
      if (takenPiece !== null) takenPieces.push(takenPiece);
    }
    this.#waitingDeltas = [];
    return takenPieces;
  }

  /** Returns the end of the reply. @throws BrokenReplyError if it broke off */
  end(): ReplyEnd {
    if (this.#replyEnd === null || this.#isBroken) throw new BrokenReplyError(brokenOff);
    return this.#replyEnd;
  }

  #toBlock(type: Block["type"], partId: unknown, part?: StreamPart): Block {
    const openBlock = this.#openBlocks.get(toName(type, partId)) ?? this.#begin(type, partId, part);
    const metadata = part?.["providerMetadata"];
    if (metadata) openBlock.metadata = mergeMetadata(openBlock.metadata, metadata as Metadata);
    return openBlock;
  }

  #begin(type: Block["type"], partId: unknown, streamPart: StreamPart = {}): Block {
    // Some services never end a text, and a client's next block begins after this one.
    for (const open of this.#openBlocks.values()) if (open.type !== "toolCall") this.#close(open);
    const name = toName(type, partId);
    const head = type === "toolCall" ? this.#toHead(partId, streamPart["toolName"]) : null;
    const redactor = this.#options.redact.inPieces();
    const key = `${type}-${this.#blocks}`;
    const block = { type, name, key, callId: head?.id ?? "", redactor, text: "", hasText: false };
    this.#blocks += 1;
    this.#openBlocks.set(name, block);
    if (head !== null) this.#waitingDeltas.push({ block, text: "", head });
    return block;
  }

  /** The deltas of a chunk become one piece. */
  #append(openBlock: Block, newText: unknown): void {
    if (typeof newText !== "string" || newText === "") return;
    this.#byteCount += Buffer.byteLength(newText);
    if (this.#byteCount > MAX_REPLY_BYTES) throw new BrokenReplyError(tooLarge);
    // Some services begin with an empty object and send the whole arguments after it.
    if (openBlock.type === "toolCall" && !openBlock.hasText && newText.trim() === "{}") return;
    this.#options.meter.written += estimateDelta(newText);
    openBlock.hasText = true;
    this.#write(openBlock, newText);
  }

  #write(block: Block, text: string): void {
    const lastDelta = this.#waitingDeltas.at(-1);
    if (lastDelta?.block === block) lastDelta.text += text;
    else this.#waitingDeltas.push({ block, text });
  }

  /** The whole arguments; they may have come in pieces before. */
  #addCall(callBlock: Block, callInput: unknown): void {
    const inputText = typeof callInput === "string" ? callInput : JSON.stringify(callInput ?? {});
    if (!callBlock.hasText) this.#append(callBlock, inputText);
    this.#close(callBlock);
  }

  #close(block: Block | undefined): void {
    if (block === undefined) return;
    this.#openBlocks.delete(block.name);
    if (block.type === "toolCall" && !block.hasText) this.#write(block, "{}");
    this.#waitingDeltas.push({ block, text: null });
  }

  /** A missing id is made up: the client's result of the call names it. */
  #toHead(partId: unknown, toolName: unknown) {
    const callIds = (this.#callIds ??= listCallIds(this.#options.conversation));
    const isUnique = typeof partId === "string" && partId !== "" && !callIds.has(partId);
    const callId = isUnique ? partId : `call_${randomUUID()}`;
    callIds.add(callId);
    return { id: callId, name: typeof toolName === "string" ? toolName : "" };
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
    for (const openBlock of this.#openBlocks.values()) this.#close(openBlock);
    const { meter } = this.#options;
    const { gateway } = Object(providerMetadata) as Metadata;
    const reportedUsage = toTokenUsage(usage, gateway?.["marketCost"]);
    // The service's own events are read already; a provider reads only its own form of them.
    const mergedUsage = meter.reported ? mergeKnown(reportedUsage, meter.reported) : reportedUsage;
    meter.reported = mergedUsage;
    const { unified: reason, raw } = (finishReason ?? {}) as Partial<LanguageModelV4FinishReason>;
    const isKnown = wholeReasons.has(reason) && !/^malformed_function_call$/i.test(raw ?? "");
    this.#isBroken = !isKnown && (reason !== "other" || raw === undefined || this.#blocks === 0);
    const stopText = (providerMetadata as Metadata | undefined)?.["anthropic"]?.["stopSequence"];
    const stopSequence = typeof stopText === "string" ? stopText : undefined;
    this.#replyEnd = { finishReason: reason ?? "other", usage: mergedUsage, stopSequence };
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
  const messageParts = conversation?.messages.flatMap((pastMessage) => pastMessage.parts) ?? [];
  return new Set(messageParts.flatMap((part) => (part.type === "toolCall" ? part.id : [])));
}

function toName(blockType: Block["type"], partId: unknown): string {
  return `${blockType} ${String(partId)}`;
}

/** The providers' names of the opaque value that proves a part of a reply. */
const signatureFields = [
  "signature",
  "thoughtSignature",
  "reasoningEncryptedContent",
  "redactedData",
];

function toSignature(metadata: Metadata): Signature | null {
  const fieldValues = Object.values(metadata).flatMap((vendorFields) =>
    signatureFields.map((fieldName) => vendorFields[fieldName]),
  );
  const value = fieldValues.find((each) => typeof each === "string" && each !== "");
  return typeof value === "string" ? { value, metadata } : null;
}

function toFailure(error: unknown): BrokenReplyError {
  if (JSONParseError.isInstance(error)) return new BrokenReplyError(notJson); // its own message repeats the text
  return toBrokenReply(error);
}
