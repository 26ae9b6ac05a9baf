import type { Reply } from "../server/reply.ts";

/** A reply that sends each part as one server-sent event, then `[DONE]`. */
export function eventStream(parts: readonly object[], headers: Record<string, string>): Reply {
  const events = [...parts.map((part) => JSON.stringify(part)), "[DONE]"];
  return {
    status: 200,
    headers: { "content-type": "text/event-stream", "cache-control": "no-cache", ...headers },
    body: events.map((event) => `data: ${event}\n\n`),
  };
}
