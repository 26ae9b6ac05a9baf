import { EventSourceParserStream } from "eventsource-parser/stream";
import type { ChatOutcome } from "../../routes/chat-response.ts";
import type { Decision } from "../../decision/decision.ts";

/** What comes back for one message, in this order; a failure ends it. */
export type ChatEvent =
  | { readonly name: "decision"; readonly data: Decision }
  | { readonly name: "reply"; readonly data: { readonly delta: string } }
  | { readonly name: "done"; readonly data: ChatOutcome }
  | { readonly name: "error"; readonly data: { readonly error: string } };

const unreachable = "The router cannot be reached. Is it still running?";

/** Sends a message and gives what comes back, as it comes; an abort ends it without a word. */
export async function* ask(message: string, signal: AbortSignal): AsyncGenerator<ChatEvent> {
  try {
    const response = await fetch("/chat", {
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/event-stream" },
      body: JSON.stringify({ message }),
      signal,
    });
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    if (isStream && response.body !== null) yield* readEvents(response.body);
    else yield { name: "error", data: (await response.json()) as { error: string } };
  } catch {
    if (!signal.aborted) yield { name: "error", data: { error: unreachable } };
  }
}

async function* readEvents(body: ReadableStream<Uint8Array<ArrayBuffer>>) {
  const events = body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  for (;;) {
    const { done, value } = await events.read();
    if (done) return;
    yield { name: value.event, data: JSON.parse(value.data) as unknown } as ChatEvent;
  }
}
