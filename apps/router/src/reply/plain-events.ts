import { createParser, type EventSourceMessage } from "eventsource-parser";
import { parseJson } from "evaluator-kit";
import type { StreamedResponse } from "evaluator-client/http";
import type { UpstreamType } from "../conversation/upstream-types.ts";
import {
  BrokenReplyError,
  MAX_REPLY_BYTES,
  noReply,
  serviceFailure,
  tooLarge,
} from "./broken-reply.ts";
import { readBody } from "./read-body.ts";

/**
 * Streams the events of a stream as a provider reads them: each in one line of up to 16 MiB, without comments
 * and names. It fails with a BrokenReplyError for a page or an error instead of a stream.
 */
export function plainEvents(
  response: StreamedResponse,
  type: UpstreamType,
  onEvent: (json: string) => void = () => undefined,
): ReadableStream<Uint8Array> {
  let [events, page, isStream] = ["", "", null as boolean | null];
  let room = Promise.withResolvers<void>();
  const parser = eventParser(({ data }) => {
    onEvent(data);
    events += toPlainEvents(data, type);
  });
  const pass = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    await readBody(response, (text) => {
      if (isStream !== true) page += text;
      if (page.length > MAX_REPLY_BYTES) throw new BrokenReplyError(tooLarge);
      isStream ??= isStreamText(text); // only white space was before
      parser.feed(text);
      if (events === "") return undefined;
      controller.enqueue(Buffer.from(events));
      events = "";
      room = Promise.withResolvers();
      return room.promise;
    });
    if (isStream !== true) throw serviceFailure(parseJson(page)) ?? new BrokenReplyError(noReply);
    parser.feed("\n\n"); // the last event may lack its blank line
    controller.enqueue(Buffer.from(events));
    controller.close();
  };
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => void pass(controller).catch((error) => controller.error(error)),
      pull: () => room.resolve(),
    },
    { highWaterMark: 0 },
  );
}

/** Whether a body is a stream, by its first character; null if it has none so far. */
export function isStreamText(text: string): boolean | null {
  const first = text.trimStart()[0];
  return first === undefined ? null : !'{[<"'.includes(first);
}

const isStart = /"type":\s*"content_block_start"/;
const hasText = /"(?:text|thinking)":\s*"(?!")/;

/** Returns an event in one line, with the deltas of a text that its API has elsewhere. */
function toPlainEvents(data: string, type: UpstreamType): string {
  const line = `data: ${data.trim().replaceAll("\n", " ")}\n\n`;
  const deltas = deltasOf[type](data);
  return [line, ...deltas.map((delta) => `data: ${JSON.stringify(delta)}\n\n`)].join("");
}

const deltasOf: Readonly<Record<UpstreamType, (data: string) => readonly object[]>> = {
  gateway: () => [],
  "openai-chat": () => [],
  "openai-responses": () => [],
  anthropic: deltasOfStart,
};

/** Returns the deltas of a block's text in its start, as LiteLLM sends it. */
function deltasOfStart(data: string): object[] {
  if (!isStart.test(data) || !hasText.test(data)) return [];
  const { index, content_block: block } = Object(parseJson(data)) as Record<string, unknown>;
  const { type: kind, text, thinking } = Object(block) as Record<string, unknown>;
  return [
    ...(kind === "text" ? [{ type: "text_delta", text }] : []),
    ...(kind === "thinking" ? [{ type: "thinking_delta", thinking }] : []),
  ].map((delta) => ({ type: "content_block_delta", index, delta }));
}

/** Creates a parser of events of up to 16 MiB. */
export function eventParser(onEvent: (event: EventSourceMessage) => void) {
  return createParser({
    maxBufferSize: MAX_REPLY_BYTES,
    onError: ({ type }) => {
      if (type === "max-buffer-size-exceeded") throw new BrokenReplyError(tooLarge);
    },
    onEvent,
  });
}
