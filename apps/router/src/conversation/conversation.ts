import type {
  LanguageModelV4CallOptions,
  LanguageModelV4ToolChoice,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";

/** Values for one provider, such as `{ anthropic: { cacheControl: { type: "ephemeral" } } }`. */
export type ProviderOptions = SharedV4ProviderOptions;

/** A conversation in the form of no API: every API is read into it, and every upstream is asked from it. */
export interface Conversation {
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  /** Null leaves the choice to the model. */
  readonly toolChoice: LanguageModelV4ToolChoice | null;
  /** Null for text. */
  readonly format: ReplyFormat | null;
  readonly settings: ReplySettings;
  /** Values of the whole request for one provider, such as `{ openai: { parallelToolCalls: false } }`. */
  readonly providerOptions: ProviderOptions;
}

/** Returns a conversation of one message. */
export function toConversation(message: string): Conversation {
  const messages = [{ role: "user", parts: [{ type: "text", text: message }] }] as const;
  const nothing = { tools: [], toolChoice: null, format: null, settings: {}, providerOptions: {} };
  return { messages, ...nothing };
}

/** A message. Results of tools come first in a user's message; a call may be without a result. */
export interface Message {
  readonly role: "system" | "user" | "assistant";
  readonly parts: readonly Part[];
}

/** A part of a message. */
export type Part = TextPart | ImagePart | FilePart | ReasoningPart | ToolCallPart | ToolResultPart;

interface PartBase {
  /** A client's `cache_control` is `{ anthropic: { cacheControl } }`. */
  readonly providerOptions?: ProviderOptions;
}

/** Text. */
export interface TextPart extends PartBase {
  readonly type: "text";
  readonly text: string;
}

/** An image. */
export interface ImagePart extends PartBase {
  readonly type: "image";
  /** An https: or data: address. */
  readonly url: string;
}

/** A document or audio. */
export interface FilePart extends PartBase {
  readonly type: "file";
  /** An https: or data: address. */
  readonly url: string;
  /** Such as `application/pdf` or `audio/wav`. */
  readonly mediaType: string;
  readonly filename: string | null;
}

/** Reasoning of a model. */
interface ReasoningPart extends PartBase {
  readonly type: "reasoning";
  /** Empty if the model shows none. */
  readonly text: string;
  /** The opaque value that proves it to its model, unchanged; null without one. */
  readonly signature: string | null;
}

/** A model's call of one of the client's tools. */
export interface ToolCallPart extends PartBase {
  readonly type: "toolCall";
  readonly id: string;
  readonly name: string;
  /** The model's text, JSON or not. */
  readonly arguments: string;
  /** The opaque value that proves it to its model, unchanged; null without one. */
  readonly signature: string | null;
}

/** A tool's result. */
export interface ToolResultPart extends PartBase {
  readonly type: "toolResult";
  readonly id: string;
  readonly parts: readonly (TextPart | ImagePart | FilePart)[];
  readonly isError: boolean;
}

/** A JSON schema, unchecked: the model's service checks it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A tool of the client. */
export interface Tool extends PartBase {
  readonly name: string;
  readonly description: string | null;
  readonly parameters: JsonSchema;
  readonly strict: boolean | null;
}

/** A reply in JSON; null accepts any. */
interface ReplyFormat {
  readonly name: string | null;
  readonly description: string | null;
  readonly schema: JsonSchema | null;
  readonly strict: boolean | null;
}

/** Sampling and limits; an absent value is the model's own. */
export type ReplySettings = Pick<
  LanguageModelV4CallOptions,
  | "temperature"
  | "topP"
  | "topK"
  | "presencePenalty"
  | "frequencyPenalty"
  | "seed"
  | "maxOutputTokens"
  | "stopSequences"
  | "reasoning"
>;

/** Returns the images and files in a part, also in a tool's result. */
export function listFiles(messagePart: Part): readonly (ImagePart | FilePart)[] {
  if (messagePart.type === "toolResult") return messagePart.parts.flatMap(listFiles);
  return messagePart.type === "image" || messagePart.type === "file" ? [messagePart] : [];
}

/** Returns the text of parts, joined with line breaks; other parts are named by their kind, such as `[image]`. */
export function findText(parts: readonly Part[]): string {
  return parts.map(textOfPart).join("\n");
}

function textOfPart(part: Part): string {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text;
    case "image":
      return "[image]";
    case "file":
      return part.filename === null ? `[${toKind(part)}]` : `[${toKind(part)}: ${part.filename}]`;
    case "toolCall":
      return part.arguments;
    case "toolResult":
    default:
      return findText(part.parts);
  }
}

function toKind({ mediaType }: FilePart): string {
  return mediaType.startsWith("audio/") ? "audio" : "file";
}

/** Returns the fields without those that are null or undefined. */
export function withoutUndefined<TFields extends object>(givenFields: TFields) {
  const presentEntries = Object.entries(givenFields).filter(
    ([, fieldValue]) => fieldValue !== null && fieldValue !== undefined,
  );
  return Object.fromEntries(presentEntries) as {
    [TKey in keyof TFields]?: NonNullable<TFields[TKey]>;
  };
}
