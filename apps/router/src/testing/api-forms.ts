import type { ApiName } from "../apis/apis.ts";

/** One API as its clients speak it. */
interface ApiForm {
  readonly name: ApiName;
  readonly path: string;
  /** Returns a body: the user's texts, after the last of them as many calls of a tool with their results. */
  readonly ask: (texts: readonly string[], options?: AskOptions) => Record<string, unknown>;
}

interface AskOptions {
  readonly calls?: number;
  /** A text that the program adds beside a result, if its API has a place for it. */
  readonly reminder?: string;
  readonly model?: string;
  readonly stream?: boolean;
}

interface Asked extends Required<Pick<AskOptions, "reminder">> {
  readonly turns: readonly object[];
  readonly ids: readonly string[];
  readonly common: { readonly model: string; readonly stream: boolean };
}

function formOf(
  { name, path }: Pick<ApiForm, "name" | "path">,
  toBody: (asked: Asked) => Record<string, unknown>,
): ApiForm {
  return {
    name,
    path,
    ask(texts, { calls = 0, reminder = "", model = "auto", stream = false } = {}) {
      const ids = Array.from({ length: calls }, (_, index) => `call_${index}`);
      const turns = texts.flatMap((content, index) => [
        ...(index === 0 ? [] : [{ role: "assistant", content: "Done." }]),
        { role: "user", content },
      ]);
      return toBody({ turns, ids, reminder, common: { model, stream } });
    },
  };
}

const chat = formOf({ name: "chat", path: "/v1/chat/completions" }, ({ turns, ids, common }) => {
  const steps = ids.flatMap((id) => {
    const called = { id, type: "function", function: { name: "look", arguments: "{}" } };
    return [
      { role: "assistant", content: null, tool_calls: [called] },
      { role: "tool", tool_call_id: id, content: `Result of ${id}` },
    ];
  });
  const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
  return { ...common, tools, messages: [...turns, ...steps] };
});

const responses = formOf({ name: "responses", path: "/v1/responses" }, (asked) => {
  const steps = asked.ids.flatMap((call_id) => [
    { type: "function_call", call_id, name: "look", arguments: "{}" },
    { type: "function_call_output", call_id, output: `Result of ${call_id}` },
  ]);
  const tools = [{ type: "function", name: "look", parameters: { type: "object" } }];
  return { ...asked.common, tools, input: [...asked.turns, ...steps] };
});

const messages = formOf({ name: "messages", path: "/v1/messages" }, (asked) => {
  const reminders = asked.reminder === "" ? [] : [{ type: "text", text: asked.reminder }];
  const steps = asked.ids.flatMap((id) => {
    const result = { type: "tool_result", tool_use_id: id, content: `Result of ${id}` };
    return [
      { role: "assistant", content: [{ type: "tool_use", id, name: "look", input: {} }] },
      { role: "user", content: [result, ...reminders] },
    ];
  });
  const tools = [{ name: "look", input_schema: { type: "object" } }];
  return { ...asked.common, max_tokens: 100, tools, messages: [...asked.turns, ...steps] };
});

const forms = { chat, responses, messages } satisfies Record<ApiName, ApiForm>;

/** The APIs. */
export const apiForms = Object.values(forms) as [ApiForm, ApiForm, ApiForm];

/** Returns a client's POST of a body. */
export function post(body: unknown, headers: Record<string, string> = {}): RequestInit {
  const json = { "content-type": "application/json", ...headers };
  return { method: "POST", headers: json, body: JSON.stringify(body) };
}
