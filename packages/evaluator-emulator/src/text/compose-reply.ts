import { z } from "zod";
import { estimateTextTokens } from "../questions/estimate-tokens.ts";
import { promptText } from "./prompt-text.ts";
import { replyText } from "./reply-text.ts";

const requestSchema = z.object({
  prompt: z.unknown(),
  responseFormat: z.looseObject({ type: z.string() }).optional(),
  tools: z.array(z.unknown()).optional(),
});

/** A reply, before it is sent whole or in parts. */
export interface Reply {
  readonly text: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** What the caller asked for and an echo cannot do. */
  readonly warnings: readonly { type: "unsupported"; feature: string }[];
}

/** The reply to a text request in the AI SDK's form, or null when it is not one. */
export function composeReply(body: unknown): Reply | null {
  const { data: request } = requestSchema.safeParse(body);
  const prompt = promptText(request?.prompt);
  if (request === undefined || prompt === null) return null;
  const text = replyText(prompt.lastUserText);
  return {
    text,
    inputTokens: estimateTextTokens(prompt.allText),
    outputTokens: estimateTextTokens(text),
    warnings: unsupportedFeatures(request).map((feature) => ({ type: "unsupported", feature })),
  };
}

function unsupportedFeatures({ responseFormat, tools = [] }: z.infer<typeof requestSchema>) {
  const wantsOtherThanText = (responseFormat?.type ?? "text") !== "text";
  return [
    ...(wantsOtherThanText ? ["responseFormat"] : []),
    ...(tools.length > 0 ? ["tools"] : []),
  ];
}
