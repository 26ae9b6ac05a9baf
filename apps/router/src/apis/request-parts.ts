import type {
  Conversation,
  Message,
  Part,
  ProviderOptions,
  TextPart,
  Tool,
} from "../conversation/conversation.ts";

type Optional<TValue> = { readonly [TKey in keyof TValue]?: TValue[TKey] | null | undefined };

/** A mark for the cache, in the form of Anthropic. */
type CacheControl = ProviderOptions[string] | null | undefined;

/** Returns a content's parts. */
export function listParts<TGiven, TPart>(
  content: string | readonly TGiven[] | null | undefined,
  toPart: (givenPart: TGiven) => TPart,
): (TPart | TextPart)[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return (content ?? []).map(toPart);
}

/** Returns a file; the type of one at another address is not known before it is loaded. */
export function toFile(url: string, filename: string | null | undefined = null) {
  const mediaType = /^data:([^;]+);/.exec(url)?.[1] ?? "application/pdf";
  return { type: "file" as const, url, mediaType, filename };
}

/** Returns a part's options: its mark for the cache and values of other providers. */
export function listOptions(cacheControl: CacheControl, otherOptions: ProviderOptions = {}) {
  const partOptions = { ...(cacheControl && { anthropic: { cacheControl } }), ...otherOptions };
  return Object.keys(partOptions).length === 0 ? {} : { providerOptions: partOptions };
}

interface GivenTool extends Optional<Omit<Tool, "name">> {
  readonly name: string;
  readonly cache_control?: CacheControl;
}

/** Returns a tool; one without parameters has none. */
export function toTool(givenTool: GivenTool): Tool {
  const { name, description = null, strict = null } = givenTool;
  const parameters = givenTool.parameters ?? { type: "object", properties: {} };
  return { name, description, parameters, strict, ...listOptions(givenTool.cache_control) };
}

/** Returns the format of a reply in JSON; null for text. */
export function toFormat(
  givenFormat:
    | ({ readonly type: string } & Optional<NonNullable<Conversation["format"]>>)
    | null
    | undefined,
): Conversation["format"] {
  if (!givenFormat || givenFormat.type === "text") return null;
  const { name = null, description = null, schema = null, strict = null } = givenFormat;
  return { name, description, schema, strict };
}

/** Joins instructions, the parts of an assistant's message, and results with the user's message that follows them. */
export function joinSteps(messages: readonly Message[]): Message[] {
  const steps: { role: Message["role"]; parts: Part[] }[] = [];
  for (const { role, parts } of messages) {
    const lastStep = steps.at(-1);
    const isOpen = role !== "user" || lastStep?.parts.at(-1)?.type === "toolResult";
    if (lastStep?.role !== role || !isOpen) steps.push({ role, parts: [...parts] });
    else for (const messagePart of parts) lastStep.parts.push(messagePart);
  }
  return steps;
}
