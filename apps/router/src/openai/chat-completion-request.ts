import type { z } from "zod";
import { HttpError } from "../routes/failures.ts";
import {
  type ChatCompletionMessage,
  chatCompletionRequestSchema,
  asksForNothing,
} from "./chat-completion-schema.ts";

/** A request, its whole body, and the fields that were not read. */
export type ReadRequest = ReturnType<typeof parseChatCompletionRequest>;

/**
 * Reads a request in OpenAI's form. Unsupported fields that would change the reply are rejected;
 * others, such as `store`, are listed.
 *
 * @throws HttpError with status 400 that names the field and an alternative.
 */
export function parseChatCompletionRequest(body: unknown) {
  const { data, error } = chatCompletionRequestSchema.safeParse(body);
  if (!data) throw invalidField(deepest(error.issues[0]));
  checkToolMessages(data.messages);
  return {
    request: data,
    /** The unchanged request. */
    body: body as Record<string, unknown>,
    /** Names of unread fields, without the positions of list items. */
    unknown: unreadFields(body, data),
  };
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

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

/** Throws an HttpError (400) for the first such field. */
export function rejectSampling({ unknown }: ReadRequest): void {
  const field = unknown.find((name) => samplingFields.test(name.split(".")[0] ?? ""));
  if (field === undefined) return;
  const instead =
    "not known to the gateway; leave it out, or ask a server that knows it through ROUTER_REPLY_BASE_URL";
  throw invalidField({ path: [field], message: instead });
}

/** The most names in one header. */
const MOST_NAMES = 20;

/** Returns the names of fields that were sent and not read, such as `messages.name`. */
function unreadFields(sent: unknown, read: unknown): string[] {
  const names = new Set<string>();
  collectUnread({ sent, read, path: "" }, names);
  const first = [...names].slice(0, MOST_NAMES);
  const rest = names.size - MOST_NAMES;
  return rest > 0 ? [...first, `and-${rest}-more`] : first;
}

interface Compared {
  readonly sent: unknown;
  readonly read: unknown;
  readonly path: string;
}

function collectUnread({ sent, read, path }: Compared, names: Set<string>): void {
  if (sent === read || typeof sent !== "object" || sent === null) return;
  if (typeof read !== "object" || read === null) return;
  for (const [key, value] of Object.entries(sent)) {
    const own = /^[\w.-]{1,64}$/.test(key) ? key : "unprintable";
    const inside = Array.isArray(sent) ? path : path === "" ? own : `${path}.${own}`;
    if (!Object.hasOwn(read, key)) {
      if (!asksForNothing(value)) names.add(inside);
    } else {
      collectUnread(
        { sent: value, read: (read as Record<string, unknown>)[key], path: inside },
        names,
      );
    }
  }
}
