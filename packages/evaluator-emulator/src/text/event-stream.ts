const encoder = new TextEncoder();

/** A response that sends each part as one server-sent event, then `[DONE]`. */
export function eventStream(parts: readonly object[], headers: Record<string, string>): Response {
  const events = [...parts.map((part) => JSON.stringify(part)), "[DONE]"];
  const chunks = events.map((event) => encoder.encode(`data: ${event}\n\n`));
  return new Response(ReadableStream.from(chunks), {
    headers: { "content-type": "text/event-stream", "cache-control": "no-cache", ...headers },
  });
}
