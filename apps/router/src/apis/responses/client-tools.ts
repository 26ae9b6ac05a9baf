import type { JsonSchema, Tool } from "../../conversation/conversation.ts";
import { parseObject } from "../parse-body.ts";
import { toTool } from "../request-parts.ts";
import type { ResponsesBody } from "./responses-schema.ts";

/** A tool as the client knows it, and as the model does. */
export interface ClientTool {
  readonly type: "function" | "custom";
  readonly name: string;
  readonly namespace: string | null;
  /** A custom tool is a function with its text as `input`. */
  readonly tool: Tool;
}

type GivenTool = NonNullable<ResponsesBody["tools"]>[number];

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
