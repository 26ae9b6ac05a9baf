import { type Conversation, listFiles, type Part, findText } from "./conversation.ts";

/** The parts of a conversation that its model reads. */
type Input = Pick<Conversation, "messages" | "tools" | "format">;

/** The tokens of an image without another bound: Anthropic's count of the largest one that it does not shrink. */
export const TOKENS_PER_IMAGE = 1600;

/** The role and the marks around a message in a chat template. */
const TOKENS_PER_MESSAGE = 4;

/** The tokens of a text's input, its images, and its files of unknown length. */
export interface InputTokens {
  readonly input: number;
  readonly images: number;
  readonly files: number;
}

/** Counts the input of a conversation with its tools; `countText` counts the tokens of a text. */
export function listInputTokens(
  { messages, tools, format }: Input,
  countText: (countedText: string) => number,
): InputTokens {
  const messageParts = messages.flatMap((message) => message.parts);
  const { image: images = [], file: files = [] } = Object.groupBy(
    messageParts.flatMap(listFiles),
    ({ type }) => type,
  );
  const knownCounts = files.flatMap(({ url }) => knownTokens(url, countText) ?? []);
  const rules = tools.map(({ name, description, parameters }) => ({
    name,
    description,
    parameters,
  }));
  const ruleTexts = tools.length === 0 && format === null ? [] : [JSON.stringify([rules, format])];
  const textTokens = countText([...messageParts.map(textForModel), ...ruleTexts].join("\n"));
  const input = knownCounts.reduce((sum, knownCount) => sum + knownCount, textTokens);
  return {
    input: input + TOKENS_PER_MESSAGE * messages.length,
    images: images.length,
    files: files.length - knownCounts.length,
  };
}

/** The most tokens that a part's marks take, and Anthropic's own text about tools. */
const MOST_PER_PART = 16;
const MOST_FOR_TOOLS = 700;

/** Returns the most input of a conversation: no tokenizer of bytes makes more of a text than its bytes. */
export function toMostInput(conversation: Input): InputTokens {
  const countedInputTokens = listInputTokens(conversation, computeMostTokens);
  const { messages, tools } = conversation;
  const parts = messages.reduce((sum, message) => sum + message.parts.length, messages.length);
  const marks = MOST_PER_PART * (parts + tools.length) + (tools.length > 0 ? MOST_FOR_TOOLS : 0);
  const signatureText = messages.flatMap((message) => message.parts.map(toSignature)).join("");
  return {
    ...countedInputTokens,
    input: countedInputTokens.input + marks + computeMostTokens(signatureText),
  };
}

/** Returns the most tokens of a text. A third of its bytes, which is usual, is passed by logs and many alphabets. */
export function computeMostTokens(countedText: string): number {
  return Buffer.byteLength(countedText);
}

/** Everything of a part that a model reads as text, with the names and ids that {@link findText} leaves out. */
function textForModel(part: Part): string {
  if (part.type === "toolCall") return [part.id, part.name, part.arguments].join("\n");
  if (part.type === "toolResult") return [part.id, ...part.parts.map(textForModel)].join("\n");
  return findText([part]);
}

/** A service may read an opaque value as the thoughts in it. */
function toSignature(part: Part): string {
  return part.type === "toolCall" || part.type === "reasoning" ? (part.signature ?? "") : "";
}

/** Recordings of the lowest quality have about 750 bytes a second, and services count up to 100 tokens. */
const BYTES_PER_AUDIO_TOKEN = 6;

/** Null for a document, which is compressed or at another address: its bytes do not limit its tokens. */
function knownTokens(fileUrl: string, countText: (countedText: string) => number): number | null {
  const [head = "", dataKind] = /^data:(text|audio)\/[^,]*,/i.exec(fileUrl) ?? [];
  if (dataKind === undefined) return null;
  const data = Buffer.from(fileUrl.slice(head.length), /;base64,$/i.test(head) ? "base64" : "utf8");
  const isAudio = dataKind.toLowerCase() === "audio";
  return isAudio ? Math.ceil(data.length / BYTES_PER_AUDIO_TOKEN) : countText(data.toString());
}
