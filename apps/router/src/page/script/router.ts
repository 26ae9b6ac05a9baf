import { EventSourceParserStream } from "eventsource-parser/stream";
import type { ChatOutcome, Decision } from "../../decision/decision.ts";
import type { Tier } from "../../decision/tier-question.ts";

/** The events of one message, in this order; a failure ends them. */
type ChatEvent =
  | { readonly name: "request"; readonly data: { readonly requestId: string | null } }
  | { readonly name: "decision"; readonly data: Decision }
  | { readonly name: "reply"; readonly data: { readonly delta: string } }
  | { readonly name: "done"; readonly data: ChatOutcome }
  | { readonly name: "error"; readonly data: { readonly error: string } };

/** Sends a message, to a tier if one is named, and yields its events; an abort ends them silently. */
export async function* ask(
  message: string,
  { signal, tier }: { readonly signal?: AbortSignal; readonly tier?: Tier },
): AsyncGenerator<ChatEvent> {
  try {
    yield* tier === undefined ? chat(message, signal) : askTier(message, tier);
  } catch (error) {
    if (signal?.aborted !== true) yield toFailure(error);
  }
}

async function* chat(message: string, signal?: AbortSignal): AsyncGenerator<ChatEvent> {
  const response = await post("/chat", { message }, signal);
  yield { name: "request", data: { requestId: response.headers.get("x-request-id") } };
  for await (const { event, data } of readEvents(response)) {
    yield { name: event, data: JSON.parse(data) as unknown } as ChatEvent;
  }
}

async function* askTier(message: string, model: Tier): AsyncGenerator<ChatEvent> {
  const requestBody = { model, stream: true, messages: [{ role: "user", content: message }] };
  for await (const { data } of readEvents(await post("/v1/chat/completions", requestBody))) {
    if (data === "[DONE]") return;
    const replyChunk = JSON.parse(data) as CompletionChunk;
    if (replyChunk.error !== undefined) throw new RouterError(replyChunk);
    const delta = replyChunk.choices?.[0]?.delta?.content ?? "";
    if (delta !== "") yield { name: "reply", data: { delta } };
  }
}

interface Failure {
  readonly error?: string | { readonly message: string };
}

interface CompletionChunk extends Failure {
  readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[];
}

/** A failure that the router describes. */
class RouterError extends Error {
  constructor({ error }: Failure) {
    super((typeof error === "object" ? error.message : error) ?? "The router gave no reason.");
  }
}

/** Any other error is one of the connection. */
function toFailure(thrownValue: unknown) {
  const unreachable = "The router cannot be reached. Is it still running?";
  const error = thrownValue instanceof RouterError ? thrownValue.message : unreachable;
  return { name: "error", data: { error } } as const;
}

/** Posts JSON to the router. */
export function post(
  routePath: string,
  requestBody: object,
  signal: AbortSignal | null = null,
): Promise<Response> {
  const headers = { "content-type": "application/json", accept: "text/event-stream" };
  return fetch(routePath, { method: "POST", headers, body: JSON.stringify(requestBody), signal });
}

async function* readEvents(response: Response) {
  const { body, headers } = response;
  const isStream = headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  if (!isStream || body === null) throw new RouterError((await response.json()) as Failure);
  const eventReader = body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  for (;;) {
    const { done: isDone, value } = await eventReader.read();
    if (isDone) return;
    yield value;
  }
}

/** The tiers, from the cheapest to the most expensive. */
export const tiers: readonly Tier[] = ["nano", "fast", "balanced", "frontier"];
