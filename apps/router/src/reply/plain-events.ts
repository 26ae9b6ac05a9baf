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
import { eventParser } from "./event-parser.ts";
import { readBody } from "./read-body.ts";

/**
 * Streams the events of a stream as a provider reads them: each in one line of up to 16 MiB, without comments
 * and names. It fails with a BrokenReplyError for a page or an error instead of a stream.
 */
export function plainEvents(
  response: StreamedResponse,
  upstreamType: UpstreamType,
  onEvent: (eventJson: string) => void = () => undefined,
): ReadableStream<Uint8Array> {
  let [pendingEvents, page, isStream] = ["", "", null as boolean | null];
  let freeSignal = Promise.withResolvers<void>();
  const parser = eventParser(({ data }) => {
    onEvent(data);
    pendingEvents += toPlainEvents(data, upstreamType);
  });
  const passEvents = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    await readBody(response, (bodyText) => {
      if (isStream !== true) page += bodyText;
      if (page.length > MAX_REPLY_BYTES) throw new BrokenReplyError(tooLarge);
      isStream ??= isStreamText(bodyText); // only white space was before
      parser.feed(bodyText);
      if (pendingEvents === "") return undefined;
      controller.enqueue(Buffer.from(pendingEvents));
      pendingEvents = "";
      freeSignal = Promise.withResolvers();
      return freeSignal.promise;
    });
    if (isStream !== true) throw serviceFailure(parseJson(page)) ?? new BrokenReplyError(noReply);
    parser.end();
    controller.enqueue(Buffer.from(pendingEvents));
    controller.close();
  };
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => void passEvents(controller).catch((error) => controller.error(error)),
      pull: () => freeSignal.resolve(),
    },
    { highWaterMark: 0 },
  );
}

/** Whether a body is a stream, by its first character; null if it has none so far. */
export function isStreamText(bodyText: string): boolean | null {
  const firstCharacter = bodyText.trimStart()[0];
  return firstCharacter === undefined ? null : !'{[<"'.includes(firstCharacter);
}

const blockStart = /"type":\s*"content_block_start"/;
const textField = /"(?:text|thinking)":\s*"(?!")/;

/** Returns an event in one line, with the deltas of a text that its API has elsewhere. */
function toPlainEvents(eventData: string, upstreamType: UpstreamType): string {
  const dataLine = `data: ${eventData.trim().replaceAll("\n", " ")}\n\n`;
  const plainDeltas = deltasOf[upstreamType](eventData);
  return [dataLine, ...plainDeltas.map((delta) => `data: ${JSON.stringify(delta)}\n\n`)].join("");
}

const deltasOf: Readonly<Record<UpstreamType, (eventData: string) => readonly object[]>> = {
  gateway: () => [],
  "openai-chat": () => [],
  "openai-responses": () => [],
  anthropic: deltasOfStart,
};

/** Returns the deltas of a block's text in its start, as LiteLLM sends it. */
function deltasOfStart(eventData: string): object[] {
  if (!blockStart.test(eventData) || !textField.test(eventData)) return [];
  const { index, content_block: block } = Object(parseJson(eventData)) as Record<string, unknown>;
  const { type: blockType, text, thinking } = Object(block) as Record<string, unknown>;
  return [
    ...(blockType === "text" ? [{ type: "text_delta", text }] : []),
    ...(blockType === "thinking" ? [{ type: "thinking_delta", thinking }] : []),
  ].map((delta) => ({ type: "content_block_delta", index, delta }));
}
