import { z } from "zod";

const messageSchema = z.object({
  role: z.string(),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]),
});
const promptSchema = z.array(messageSchema).min(1);

/** What a prompt says. */
export interface PromptText {
  /** The text of the last user message. */
  readonly lastUserText: string;
  /** All text of the prompt, for counting tokens. */
  readonly allText: string;
}

/** The text of a prompt in the AI SDK's form, or null when it is not one. */
export function promptText(prompt: unknown): PromptText | null {
  const { data: messages } = promptSchema.safeParse(prompt);
  if (messages === undefined) return null;
  const lastUser = messages.findLast(({ role }) => role === "user");
  return {
    lastUserText: lastUser === undefined ? "" : textOf(lastUser),
    allText: messages.map(textOf).join("\n"),
  };
}

function textOf({ content }: z.infer<typeof messageSchema>): string {
  if (typeof content === "string") return content;
  return content
    .map(({ text }) => (typeof text === "string" ? text : ""))
    .filter((text) => text !== "")
    .join("\n");
}
