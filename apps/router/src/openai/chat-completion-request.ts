import { z } from "zod";
import { HttpError } from "../http-error.ts";

const name = z.string().regex(/^[\w.-]{1,128}$/, "is not a name of letters, digits and _ . -");

const textPartSchema = z.object({ type: z.literal("text"), text: z.string() });
const refusalPartSchema = z.object({ type: z.literal("refusal"), refusal: z.string() });
const imagePartSchema = z.object({
  type: z.literal("image_url"),
  image_url: z.object({
    url: z
      .string()
      .regex(/^(https:|data:image\/)/, "is not https or data; send an https or data: address"),
    detail: z.enum(["auto", "low", "high", "original"]).nullish(),
  }),
});
const audioPartSchema = z.object({
  type: z.literal("input_audio"),
  input_audio: z.object({
    data: z.base64(),
    format: z.enum(["wav", "mp3"], "is neither wav nor mp3; convert it"),
  }),
});
const filePartSchema = z.object({
  type: z.literal("file"),
  file: z.object({
    file_data: z
      .string("missing; send the file itself as file_data, a data: address")
      .regex(/^data:[\w.+-]+\/[\w.+-]+;base64,/, "is not a data: address with base64"),
    filename: z.string().nullish(),
    file_id: z.null("not supported; send the file itself as file_data").optional(),
  }),
});

const textSchema = z.union(
  [z.string(), z.array(textPartSchema)],
  "neither text nor a list of text parts",
);
const userContentSchema = z.union(
  [
    z.string(),
    z.array(
      z.discriminatedUnion(
        "type",
        [textPartSchema, imagePartSchema, audioPartSchema, filePartSchema],
        "none of text, image_url, input_audio and file",
      ),
    ),
  ],
  "neither text nor a list of text, image_url, input_audio and file parts",
);
const assistantContentSchema = z.union(
  [z.string(), z.array(z.discriminatedUnion("type", [textPartSchema, refusalPartSchema]))],
  "neither text nor a list of text parts",
);
const toolCallSchema = z.object({
  id: z.string().min(1),
  type: z.literal("function", "only function calls are supported"),
  function: z.object({ name, arguments: z.string() }),
});

const messageSchema = z.discriminatedUnion(
  "role",
  [
    z.object({ role: z.enum(["system", "developer"]), content: textSchema }),
    z.object({ role: z.literal("user"), content: userContentSchema }),
    z.object({
      role: z.literal("assistant"),
      content: assistantContentSchema.nullish(),
      refusal: z.string().nullish(),
      tool_calls: z.array(toolCallSchema).nullish(),
      audio: nothing("not supported; send its transcript as content"),
      function_call: nothing("not supported; use tool_calls"),
    }),
    z.object({ role: z.literal("tool"), tool_call_id: z.string(), content: textSchema }),
  ],
  "none of system, developer, user, assistant and tool",
);

const jsonSchema = z.record(z.string(), z.unknown());
const toolSchema = z.object({
  type: z.literal("function", "not supported; only tools of the type function are"),
  function: z.object({
    name,
    description: z.string().nullish(),
    parameters: jsonSchema.nullish(),
    strict: z.boolean().nullish(),
  }),
});
const toolChoiceSchema = z.union(
  [
    z.enum(["none", "auto", "required"]),
    z.object({
      type: z.literal("function", "not supported; send only the tools that may be called"),
      function: z.object({ name }),
    }),
  ],
  "none of none, auto, required and a named function",
);
const responseFormatSchema = z.discriminatedUnion(
  "type",
  [
    z.object({ type: z.literal("text") }),
    z.object({ type: z.literal("json_object") }),
    z.object({
      type: z.literal("json_schema"),
      json_schema: z.object({
        name: z.string(),
        description: z.string().nullish(),
        schema: jsonSchema.nullish(),
        strict: z.boolean().nullish(),
      }),
    }),
  ],
  "not supported; use text, json_object or json_schema",
);

const noLogprobs = "not supported, as replies carry no log-probabilities; leave it out";

/** The fields that are read. An unsupported field that would change the reply names an alternative. */
const chatCompletionRequestSchema = z.object({
  model: z.string().min(1),
  messages: z.array(messageSchema).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  top_k: z.int().positive().nullish(), // not OpenAI's own, but many servers'
  presence_penalty: z.number().nullish(),
  frequency_penalty: z.number().nullish(),
  seed: z.int().nullish(),
  stop: z.union([z.string(), z.array(z.string())], "neither text nor a list of texts").nullish(),
  max_tokens: z.int().positive().nullish(),
  max_completion_tokens: z.int().positive().nullish(),
  reasoning_effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh"]).nullish(),
  tools: z.array(toolSchema).nullish(),
  tool_choice: toolChoiceSchema.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  response_format: responseFormatSchema.nullish(),
  user: z.string().nullish(),
  n: only([1], "only 1 is supported; send the request as often as you want replies"),
  logprobs: only([false], noLogprobs),
  top_logprobs: only([0], noLogprobs),
  verbosity: only(["medium"], "not supported; ask in a message for a short or long reply"),
  modalities: z.array(z.literal("text", "not supported; replies are text")).nullish(),
  audio: nothing("not supported; replies are text"),
  functions: nothing("not supported; use tools"),
  function_call: only(["none", "auto"], "not supported; use tool_choice"),
  logit_bias: nothing("not supported; ask in a message to avoid words"),
  web_search_options: z.null("not supported; define your own tool in tools").optional(), // an empty one asks for a search
});

/** One message of an OpenAI conversation. */
export type ChatCompletionMessage = z.infer<typeof messageSchema>;

/** Returns the text of a message; other parts are named by their kind, such as `[image]`. */
export function textOf(content: ChatCompletionMessage["content"]): string {
  if (typeof content === "string") return content;
  return (content ?? []).map(textOfPart).join("\n");
}

type ContentPart = Exclude<ChatCompletionMessage["content"], string | null | undefined>[number];

function textOfPart(part: ContentPart): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "refusal":
      return part.refusal;
    case "image_url":
      return "[image]";
    case "input_audio":
      return "[audio]";
    case "file":
    default:
      return part.file.filename ? `[file: ${part.file.filename}]` : "[file]";
  }
}

/** The supported fields of `POST /v1/chat/completions`. */
export type ChatCompletionRequest = z.infer<typeof chatCompletionRequestSchema>;

/** Accepts only values that do not change the reply. */
function only(values: readonly (string | number | boolean)[], instead: string) {
  return z.literal([...values], instead).nullish();
}

function nothing(instead: string) {
  return z
    .custom<object | null>((value) => typeof value === "object" && asksForNothing(value), instead)
    .optional();
}

function asksForNothing(value: unknown): boolean {
  return value === null || value === false || (isObject(value) && Object.keys(value).length === 0);
}

/**
 * Reads a request in OpenAI's form. `unknown` names the fields that were not read; a server that takes
 * the request unchanged reads them itself.
 *
 * @throws HttpError (400) with the field and an alternative.
 */
export function parseChatCompletionRequest(body: unknown, isPassedOn = false) {
  const { data, error } = chatCompletionRequestSchema.safeParse(body);
  if (!data) throw invalidField(deepest(error.issues[0]));
  checkToolMessages(data.messages);
  const unknown = isPassedOn ? [] : [...new Set(unreadFields(body, data))];
  rejectSampling(unknown);
  const rest = unknown.length - MOST_NAMES;
  return {
    request: data,
    body: body as Record<string, unknown>,
    unknown: rest > 0 ? [...unknown.slice(0, MOST_NAMES), `and-${rest}-more`] : unknown,
  };
}

type Issue = Pick<z.core.$ZodIssue, "path" | "message">;

/** The issue with the longest path in a union's branches, else the union's own. */
function deepest(issue: z.core.$ZodIssue | undefined): Issue {
  if (issue === undefined) return { path: [], message: "is not valid" };
  if (issue.code !== "invalid_union") return issue;
  const inner = issue.errors.flatMap((branch) => branch.slice(0, 1)).map(deepest);
  const [best] = inner.toSorted((one, other) => other.path.length - one.path.length);
  if (best === undefined || best.path.length === 0) return issue;
  return { path: [...issue.path, ...best.path], message: best.message };
}

function invalidField({ path, message }: Issue): HttpError {
  const field = path.map(String).join(".") || "the body";
  return new HttpError(400, `This router cannot do this: ${field}: ${message}.`, { param: field });
}

/** Every tool call needs its result right after it. */
function checkToolMessages(messages: readonly ChatCompletionMessage[]): void {
  let open = new Map<string, number>();
  for (const [index, message] of messages.entries()) {
    if (message.role === "tool") {
      if (open.delete(message.tool_call_id)) continue;
      const problem = "answers no tool call of the assistant message before it";
      throw invalidField({ path: ["messages", index, "tool_call_id"], message: problem });
    }
    checkAnswered(open);
    const calls = message.role === "assistant" ? (message.tool_calls ?? []) : [];
    open = new Map(calls.map(({ id }) => [id, index]));
  }
  checkAnswered(open);
}

function checkAnswered(open: ReadonlyMap<string, number>): void {
  const [[, index] = [null, null]] = open;
  if (index === null) return;
  const message = "has a call without its result; send a message with the role tool for each";
  throw invalidField({ path: ["messages", index, "tool_calls"], message });
}

// Fields of other servers that would change the reply and that the gateway does not support.
const samplingFields =
  /^(?:min_p|top_a|tfs|typical_p|(?:repetition|length)_penalty|min_tokens|best_of|bad_words|ignore_eos|mirostat\w*|grammar|guided_\w+|thinking|reasoning|chat_template_kwargs)$/;

function rejectSampling(unknown: readonly string[]): void {
  const field = unknown.find((name) => samplingFields.test(name.split(".")[0] ?? ""));
  if (field === undefined) return;
  const instead =
    "not known to the gateway; leave it out, or ask a server that knows it through ROUTER_REPLY_BASE_URL";
  throw invalidField({ path: [field], message: instead });
}

const MOST_NAMES = 20;

/** Yields the names of fields that were sent and not read, such as `messages.name`. */
function* unreadFields(sent: unknown, read: unknown, path = ""): Generator<string> {
  if (!isObject(sent) || !isObject(read)) return;
  for (const [key, value] of Object.entries(sent)) {
    const own = /^[\w.-]{1,64}$/.test(key) ? key : "unprintable";
    const inside = Array.isArray(sent) ? path : path === "" ? own : `${path}.${own}`;
    if (Object.hasOwn(read, key)) yield* unreadFields(value, read[key], inside);
    else if (!asksForNothing(value)) yield inside;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
