import type { LanguageModelV4CallOptions, LanguageModelV4GenerateResult } from "@ai-sdk/provider";
import type { StreamedResponse } from "evaluator-client/http";
import { parseJson } from "evaluator-kit";
import type { Attempt } from "./attempt.ts";
import { BrokenReplyError, notJson } from "./broken-reply.ts";
import { callModel } from "./call-model.ts";
import { eventParser } from "./event-parser.ts";
import { isStreamText } from "./plain-events.ts";
import { readBody, readText } from "./read-body.ts";
import type { ReplyPieces } from "./reply-pieces.ts";
import { answering, type ProviderRequest, type Target } from "./upstream.ts";

interface Reading {
  readonly attempt: Attempt;
  readonly pieces: ReplyPieces;
}

/** Asks a model and passes its reply on, streamed by the service or not. */
export async function askModel(
  target: Target,
  options: LanguageModelV4CallOptions,
  { attempt, pieces }: Reading,
): Promise<void> {
  const { upstream } = target;
  // The gateway's body is the options, and its events are the parts of a language model's stream.
  const isGateway = upstream.type === "gateway";
  const change = ({ headers }: ProviderRequest) => ({
    headers: { ...headers, ...(options.headers as ProviderRequest["headers"]) },
    body: JSON.stringify(options),
  });
  const onEvent = (eventJson: string) => pieces.readUsage(eventJson);
  const call = { options, attempt, onEvent, ...(isGateway && { change }) };
  const isTaken = (response: StreamedResponse) => isGateway || isJson(response);
  const { takenResponse, stream } = await callModel(target, call, isTaken);
  try {
    if (takenResponse === undefined) {
      for await (const streamPart of stream) {
        pieces.add(streamPart);
        await attempt.pass(pieces);
      }
    } else if (isJson(takenResponse)) {
      const replyText = await readText(takenResponse);
      if (isStreamText(replyText) === true) {
        const ownTarget = { ...target, upstream: answering(upstream, replyText, "event-stream") };
        await askModel(ownTarget, options, { attempt, pieces });
        return;
      }
      const body: unknown = isGateway ? parseJson(replyText) : null;
      // The gateway's form is the providers' common one. A provider reads any other body, or names its problem.
      if (hasContent(body)) pieces.addWhole({ ...body, response: { body } });
      else {
        const sendWhole = async () =>
          new Response(replyText, { headers: { "content-type": "application/json" } });
        const wholeReader = await upstream.languageModel(target.model, attempt.signal, sendWhole);
        pieces.addWhole(await wholeReader.doGenerate({ ...options, abortSignal: attempt.signal }));
      }
    } else await readEvents(takenResponse, { attempt, pieces });
  } finally {
    await attempt.send(pieces.take()); // of a whole reply, or in front of a failure in one chunk
  }
}

function hasContent(replyBody: unknown): replyBody is LanguageModelV4GenerateResult {
  return Array.isArray((Object(replyBody) as Partial<LanguageModelV4GenerateResult>).content);
}

/** Whether a response is a whole reply, as of a server that does not stream. */
function isJson({ headers }: StreamedResponse): boolean {
  return String(headers["content-type"]).includes("json");
}

async function readEvents(response: StreamedResponse, { attempt, pieces }: Reading) {
  const parser = eventParser(({ data }) => {
    if (data.trim() === "[DONE]") return;
    const eventPart = parseJson(data);
    if (eventPart === null) throw new BrokenReplyError(notJson);
    pieces.add(eventPart as object);
  });
  await readBody(response, (bodyText) => {
    parser.feed(bodyText);
    return attempt.pass(pieces);
  });
}
