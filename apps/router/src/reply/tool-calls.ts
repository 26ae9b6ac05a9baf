import { type LanguageModel, type LanguageModelMiddleware, wrapLanguageModel } from "ai";
import type { Redact } from "../security/redactor.ts";
import type { ReplyForm, ToolCall, ToolCallDelta } from "./reply.ts";
import type { ToolPiece } from "./reply-events.ts";

type WrapGenerate = NonNullable<LanguageModelMiddleware["wrapGenerate"]>;
type Content = Awaited<ReturnType<WrapGenerate>>["content"];

/**
 * Returns a model that is asked for the given form, and keeps its tool calls from the `ai` package:
 * that would parse the arguments and write them anew, where the client is to get them as they came.
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
    const { toolCallId: id, toolName: name, input } = part;
    onToolCall({ id, name, arguments: textOf(input) });
    return false;
  });
}

/** The gateway's answers come through the `ai` package unchecked. */
function textOf(input: unknown): string {
  return typeof input === "string" ? input : JSON.stringify(input ?? {});
}

/** One tool call that comes. */
interface BegunCall {
  readonly index: number;
  readonly redactor: ReturnType<Redact["inPieces"]>;
  hasBegun: boolean;
  hasText: boolean;
}

/** Returns a stream that numbers the pieces of tool calls, and takes secrets out of them. */
export function createToolCallStream(redact: Redact) {
  const calls = new Map<string | number, BegunCall>();
  const begin = (key: string | number): BegunCall => {
    const redactor = redact.inPieces();
    const call = { index: calls.size, redactor, hasBegun: false, hasText: false };
    calls.set(key, call);
    return call;
  };
  return {
    /** Returns what can be shown once these pieces have come. */
    add(pieces: readonly ToolPiece[]): ToolCallDelta[] {
      return pieces.flatMap(({ key, id, name, text, isWhole = false }) => {
        const call = calls.get(key) ?? begin(key);
        const added = isWhole && call.hasText ? "" : text; // it came in pieces before
        call.hasText ||= added !== "";
        const clear = call.redactor.add(added);
        if (call.hasBegun && clear === "") return [];
        const head = call.hasBegun ? {} : { id: id ?? `call_${call.index}`, name: name ?? "" };
        call.hasBegun = true;
        return [{ index: call.index, ...head, arguments: clear }];
      });
    },
    /** Returns what was still held back. */
    end(): ToolCallDelta[] {
      const left = [...calls.values()].map(({ index, redactor }) => ({
        index,
        arguments: redactor.end(),
      }));
      return left.filter((delta) => delta.arguments !== "");
    },
  };
}
