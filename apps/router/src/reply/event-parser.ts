import { createParser, type EventSourceMessage } from "eventsource-parser";
import { parseJson } from "evaluator-kit";
import { BrokenReplyError, MAX_REPLY_BYTES, tooLarge } from "./broken-reply.ts";

/** Creates a parser of events of up to 16 MiB. */
export function eventParser(onEvent: (event: EventSourceMessage) => void) {
  let [isOver, hasPart] = [false, false];
  const parser = createParser({
    maxBufferSize: MAX_REPLY_BYTES,
    onError: ({ type }) => {
      if (type === "max-buffer-size-exceeded") throw new BrokenReplyError(tooLarge);
    },
    onEvent: (event) => {
      hasPart = isOver && event.data.trim() !== "[DONE]" && parseJson(event.data) === null;
      if (!hasPart) onEvent(event);
    },
  });
  return {
    feed: (text: string) => parser.feed(text),
    /** Reads the last event, which may lack its blank line; returns whether the stream ended within it. */
    end(): boolean {
      isOver = true;
      parser.feed("\n\n");
      return hasPart;
    },
  };
}
