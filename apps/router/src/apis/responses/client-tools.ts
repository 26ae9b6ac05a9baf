import { z } from "zod";
import type { JsonSchema, Tool } from "../../conversation/conversation.ts";
import { functionFields } from "../openai-fields.ts";
import { parseObject } from "../parse-body.ts";
import * as field from "../request-fields.ts";
import { toTool } from "../request-parts.ts";

const ownTool = "not supported; define it as a function, and run it";
const { name, description } = functionFields;
const functionTool = z.object({ type: z.literal("function"), ...functionFields });
const customTool = z.object({
  type: z.literal("custom"),
  name,
  description,
  format: z
    .object({ type: z.enum(["text", "grammar"]), syntax: field.text, definition: field.text })
    .nullish(),
});
const ownTools = [functionTool, customTool] as const;
const namespace = z.object({
  type: z.literal("namespace"),
  name,
  tools: z.array(z.discriminatedUnion("type", ownTools, ownTool)),
});
/** Tools that OpenAI runs: Codex sends them to every server, and a model can reply without them. */
export const hostedTools = ["web_search", "image_generation", "tool_search"] as const;
const hostedTool = z.looseObject({ type: z.enum(hostedTools) });
const tools = [...ownTools, namespace, hostedTool] as const;
/** The tools of a request. */
export const toolsSchema = z.array(z.discriminatedUnion("type", tools, ownTool)).nullish();
/** The one tool that a model has to call. */
export const chosenToolSchema = z.object({
  type: z.enum(["function", "custom"], "not supported; send only the tools that may be called"),
  name,
  namespace: field.text,
});

/** A tool as the client knows it, and as the model does. */
export interface ClientTool {
  readonly type: "function" | "custom";
  readonly name: string;
  readonly namespace: string | null;
  /** A custom tool is a function with its text as `input`. */
  readonly tool: Tool;
}

type GivenTool = NonNullable<z.infer<typeof toolsSchema>>[number];

/** Returns the tools that a model can call; those of namespaces are flattened. */
export function toClientTools(
  tools: readonly GivenTool[] | null | undefined,
  namespace: string | null = null,
): ClientTool[] {
  return (tools ?? []).flatMap((given) => {
    if (given.type === "namespace") return toClientTools(given.tools, given.name);
    if (given.type !== "function" && given.type !== "custom") return [];
    const { type, name } = given;
    const own = { ...given, name: toModelName(name, namespace) };
    const tool = toTool(type === "custom" ? { ...own, parameters: toInputSchema(given) } : own);
    return [{ type, name, namespace, tool }];
  });
}

/** Returns a tool's name for a model, which knows no namespaces. */
export function toModelName(name: string, namespace: string | null | undefined): string {
  if (!namespace || namespace === "functions") return name; // Codex's name of the default one
  return namespace.endsWith("__") ? `${namespace}${name}` : `${namespace}__${name}`;
}

function toInputSchema({ format }: Extract<GivenTool, { type: "custom" }>): JsonSchema {
  const { syntax, definition } = format ?? {};
  const grammar = definition ? ` Its ${syntax ?? "lark"} grammar:\n${definition}` : "";
  const input = { type: "string", description: `The whole input as plain text.${grammar}` };
  return {
    type: "object",
    properties: { input },
    required: ["input"],
    additionalProperties: false,
  };
}

/** Returns the input in a custom tool's arguments; arguments in another form are passed on unchanged. */
export function toCustomInput(text: string): string {
  const input = parseObject(text)?.["input"];
  return typeof input === "string" ? input : text;
}
