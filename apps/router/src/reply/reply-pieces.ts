import { randomUUID } from "node:crypto";
import {
  JSONParseError,
  type LanguageModelV4GenerateResult,
  type SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import { mergeMetadata, type SignedPart } from "../conversation/signatures.ts";
import {
  BrokenReplyError,
  brokenOff,
  MAX_REPLY_BYTES,
  notJson,
  tooLarge,
} from "./broken-reply-error.ts";
import type { Redact } from "./redactor.ts";
import type { ReplyEnd, ReplyPiece, Signature } from "./reply-piece.ts";
import { type TokenMeter, toTokenUsage } from "./usage.ts";

interface PiecesOptions {
  readonly redact: Redact;
  readonly meter: TokenMeter;
  /** Called at the end of a block with a signature. */
  readonly onSigned: (part: SignedPart) => void;
}

/** A part of a language model's stream, unchecked. */
type StreamPart = Readonly<Record<string, unknown>>;

/** Converts the parts of a language model's stream to pieces without secrets. */
export class ReplyPieces {
  readonly #options: PiecesOptions;
  readonly #open = new Map<string, Block>();
  /** The block of the last delta, whose text waits to be joined with the next one's. */
  #last: Block | null = null;
  #pieces: ReplyPiece[] = [];
  #blocks = 0;
  #bytes = 0;
  #end: ReplyEnd | null = null;

  constructor(options: PiecesOptions) {
    this.#options = options;
  }

  /** Adds a part. @throws BrokenReplyError for an error, and at the limit, without the part. */
  add(given: object): void {
    const part = given as StreamPart;
    switch (part["type"]) {
      case "text-delta":
        return this.#append(this.#blockOf("text", part["id"]), part["delta"]);
      case "reasoning-start":
      case "reasoning-delta":
        return this.#append(this.#blockOf("reasoning", part["id"], part), part["delta"]);
      case "tool-input-start":
        this.#blockOf("toolCall", part["id"], part);
        return;
      case "tool-input-delta":
        return this.#append(this.#blockOf("toolCall", part["id"]), part["delta"]);
      case "text-end":
        return this.#close(this.#open.get(nameOf("text", part["id"])));
      case "reasoning-end":
        return this.#close(this.#blockOf("reasoning", part["id"], part));
      case "tool-call":
        return this.#addCall(this.#blockOf("toolCall", part["toolCallId"], part), part["input"]);
      case "error":
        throw new BrokenReplyError(wordsOf(part["error"]));
      case "finish":
        return this.#finish(part);
      default:
    }
  }

  /** Adds a reply that is not streamed. */
  addWhole({ content, ...end }: LanguageModelV4GenerateResult): void {
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
    if (this.#last !== null) this.#flush(this.#last);
    if (this.#pieces.length === 0) return this.#pieces;
    const taken = this.#pieces;
    this.#pieces = [];
    return taken;
  }

  /** Returns the end of the reply. @throws BrokenReplyError if it broke off */
  end(): ReplyEnd {
    if (this.#end === null) throw new BrokenReplyError(brokenOff);
    return this.#end;
  }

  #blockOf(type: Block["type"], id: unknown, part?: StreamPart): Block {
    const last = this.#last;
    const isLast = last !== null && last.type === type && last.id === id;
    const block = isLast ? last : (this.#open.get(nameOf(type, id)) ?? this.#begin(type, id, part));
    if (!isLast && last !== null) this.#flush(last);
    this.#last = block;
    const metadata = part?.["providerMetadata"];
    if (metadata) block.metadata = mergeMetadata(block.metadata, metadata as Metadata);
    return block;
  }

  #begin(type: Block["type"], id: unknown, part: StreamPart = {}): Block {
    // Some services never end a text, and a client's next block begins after this one.
    for (const open of this.#open.values()) if (open.type !== "toolCall") this.#close(open);
    const key = `${type}-${this.#blocks}`;
    this.#blocks += 1;
    const head = type === "toolCall" ? toHead(id, part["toolName"]) : null;
    const redactor = this.#options.redact.inPieces();
    const block = { type, id, key, head, callId: head?.id ?? "", redactor, ...noText };
    this.#open.set(nameOf(type, id), block);
    return block;
  }

  #append(block: Block, delta: unknown): void {
    if (typeof delta !== "string" || delta === "") return;
    this.#bytes += Buffer.byteLength(delta);
    if (this.#bytes > MAX_REPLY_BYTES) throw new BrokenReplyError(tooLarge);
    this.#options.meter.characters += delta.length;
    block.hasText = true;
    block.waiting += delta;
  }

  /** The whole arguments; they may have come in pieces before. */
  #addCall(block: Block, input: unknown): void {
    const text = typeof input === "string" ? input : JSON.stringify(input ?? {});
    if (!block.hasText) this.#append(block, text);
    this.#close(block);
  }

  #flush(block: Block): void {
    if (block.waiting === "" && block.head === null) return;
    const clear = block.redactor.add(block.waiting);
    block.waiting = "";
    this.#push(block, clear);
  }

  #close(block: Block | undefined): void {
    if (block === undefined) return;
    this.#flush(block);
    const signature = toSignature(block.metadata);
    this.#push(block, block.redactor.end(), signature);
    this.#open.delete(nameOf(block.type, block.id));
    if (this.#last === block) this.#last = null;
    const { type, callId: id, text } = block;
    if (signature !== null) this.#options.onSigned({ type, id, text, signature });
  }

  #push(block: Block, text: string, signature: Signature | null = null): void {
    const { type, key, head } = block;
    const isPlain = head === null && signature === null;
    if (isPlain && text === "") return;
    if (type !== "text") block.text += text;
    block.head = null;
    const piece = { type, key, text };
    this.#pieces.push(isPlain ? piece : { ...piece, ...head, ...(signature && { signature }) });
  }

  #finish({ finishReason, usage }: StreamPart): void {
    for (const block of this.#open.values()) this.#close(block);
    const counts = toTokenUsage(usage);
    this.#options.meter.reported = counts;
    const { unified } = (finishReason ?? {}) as { unified?: ReplyEnd["finishReason"] };
    this.#end = { finishReason: unified ?? "other", usage: counts };
  }
}

const noText = { waiting: "", text: "", hasText: false };

/** A missing id is made up: the client's result of the call names it. */
function toHead(id: unknown, name: unknown) {
  const callId = typeof id === "string" && id !== "" ? id : `call_${randomUUID()}`;
  return { id: callId, name: typeof name === "string" ? name : "" };
}

type Metadata = SharedV4ProviderMetadata;

/** A block of the reply that has begun. */
interface Block {
  readonly type: ReplyPiece["type"];
  /** The service's. */
  readonly id: unknown;
  readonly key: string;
  readonly callId: string;
  readonly redactor: ReturnType<Redact["inPieces"]>;
  /** A tool call's, until its first piece. */
  head: { readonly id: string; readonly name: string } | null;
  /** Text that is not redacted yet. */
  waiting: string;
  /** The text of the pieces so far. */
  text: string;
  hasText: boolean;
  metadata?: Metadata;
}

function nameOf(type: Block["type"], id: unknown): string {
  return `${type} ${String(id)}`;
}

/** The providers' names of the opaque value that proves a part of a reply. */
const signatureFields = [
  "signature",
  "thoughtSignature",
  "reasoningEncryptedContent",
  "redactedData",
];

function toSignature(metadata: Metadata | undefined): Signature | null {
  if (metadata === undefined) return null;
  const values = Object.values(metadata).flatMap((each) =>
    signatureFields.map((name) => each[name]),
  );
  const value = values.find((each) => typeof each === "string" && each !== "");
  return typeof value === "string" ? { value, metadata } : null;
}

/** An error is a text, or an object with a message. */
function wordsOf(error: unknown): string {
  if (JSONParseError.isInstance(error)) return notJson; // its own message repeats the text
  const isObject = typeof error === "object" && error !== null && "message" in error;
  const given: unknown = isObject ? error.message : error;
  const words = typeof given === "string" && given !== "" ? given : "its service gave no reason.";
  return `The reply broke off: ${words}`;
}
