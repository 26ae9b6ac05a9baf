import { EventSourceParserStream } from "eventsource-parser/stream";

/** The names of the contract's fields of `POST /chat`, in its order (section 4.6). */
export const nineFields = [
  "tier",
  "model",
  "probabilities",
  "confidence",
  "jevMs",
  "replyMs",
  "reply",
  "replyError",
  "usage",
];

/** The names of the fields that end an event stream. */
export const outcomeFields = nineFields.filter((name) => name !== "reply");

/** One server-sent event; `data` is parsed. */
export interface ReceivedEvent {
  readonly event: string | undefined;
  readonly data: unknown;
}

/** Returns all events of a response, in order. */
export async function readEvents(response: Response): Promise<ReceivedEvent[]> {
  const events: ReceivedEvent[] = [];
  const text = response.body?.pipeThrough(new TextDecoderStream()) ?? new ReadableStream<string>();
  for await (const { event, data } of text.pipeThrough(new EventSourceParserStream())) {
    events.push({
      event,
      data: data.trim() === "[DONE]" ? "[DONE]" : (JSON.parse(data) as unknown),
    });
  }
  return events;
}

/** Returns the whole of a stream. */
export async function collect<TItem>(stream: AsyncIterable<TItem>): Promise<TItem[]> {
  const items: TItem[] = [];
  for await (const item of stream) items.push(item);
  return items;
}
