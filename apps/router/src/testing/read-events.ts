import { EventSourceParserStream } from "eventsource-parser/stream";

/** One server-sent event; `data` is parsed. */
export interface ReceivedEvent {
  readonly event: string | undefined;
  readonly data: unknown;
}

/** All events of a response, in order. */
export async function readEvents(response: Response): Promise<ReceivedEvent[]> {
  const events: ReceivedEvent[] = [];
  const text = response.body?.pipeThrough(new TextDecoderStream()) ?? new ReadableStream<string>();
  for await (const { event, data } of text.pipeThrough(new EventSourceParserStream())) {
    events.push({ event, data: data === "[DONE]" ? data : (JSON.parse(data) as unknown) });
  }
  return events;
}
