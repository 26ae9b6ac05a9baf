import { type LanguageModel, type LanguageModelMiddleware, wrapLanguageModel } from "ai";
import type { Redact } from "./redactor.ts";
import type { ReplyForm, ToolCall, ToolCallDelta } from "./reply.ts";
import type { ToolPiece } from "./reply-events.ts";

type WrapGenerate = NonNullable<LanguageModelMiddleware["wrapGenerate"]>;
type Content = Awaited<ReturnType<WrapGenerate>>["content"];

/**
 * Returns a model that is asked for the given form. Its tool calls go to the callback and not to the
 * `ai` package, which would parse the arguments and write them anew.
 */
export function inForm(
  model: LanguageModel,
  form: ReplyForm,
  onToolCall: (call: ToolCall) => void,
): LanguageModel {
  if (typeof model === "string" || model.specificationVersion !== "v4") return model;
  return wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: "v4",
      transformParams: async ({ params }) => ({ ...params, ...form }),
      async wrapGenerate({ doGenerate }) {
        const result = await doGenerate();
        return { ...result, content: withoutToolCalls(result.content, onToolCall) };
      },
    },
  });
}

function withoutToolCalls(content: Content, onToolCall: (call: ToolCall) => void): Content {
  return content.filter((part) => {
    if (part.type !== "tool-call") return true;
    const { toolCallId: id, toolName: name } = part;
    const input: unknown = part.input; // the `ai` package does not check the gateway's answers
    onToolCall({
      id,
      name,
      arguments: typeof input === "string" ? input : JSON.stringify(input ?? {}),
    });
    return false;
  });
}

/** Creates a stream that numbers the pieces of tool calls and redacts them. */
export function createToolCallStream(redact: Redact) {
  const begin = (index: number) => ({
    index,
    redactor: redact.inPieces(),
    hasBegun: false,
    hasText: false,
  });
  const calls = new Map<string | number, ReturnType<typeof begin>>();
  return {
    /** Returns the deltas that are clear after these pieces. */
    add(pieces: readonly ToolPiece[]): ToolCallDelta[] {
      return pieces.flatMap(({ key, id, name, text, isWhole = false }) => {
        const call = calls.get(key) ?? begin(calls.size);
        calls.set(key, call);
        const added = isWhole && call.hasText ? "" : text; // it came in pieces before
        call.hasText ||= added !== "";
        const clear = call.redactor.add(added);
        if (call.hasBegun && clear === "") return [];
        const head = call.hasBegun ? {} : { id: id ?? `call_${call.index}`, name: name ?? "" };
        call.hasBegun = true;
        return [{ index: call.index, ...head, arguments: clear }];
      });
    },
    /** Returns the rest. */
    end(): ToolCallDelta[] {
      return [...calls.values()].flatMap(({ index, redactor }) => {
        const left = redactor.end();
        return left === "" ? [] : [{ index, arguments: left }];
      });
    },
  };
}
