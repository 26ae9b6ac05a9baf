import { estimateTextTokens } from "evaluator-client";
import { parseJson } from "evaluator-kit";
import type { Attempt } from "./attempt.ts";
import { BrokenReplyError, MAX_REPLY_BYTES, noReply, tooLarge } from "./broken-reply.ts";
import { callModel } from "./call-model.ts";
import { fitEfforts } from "./efforts.ts";
import { cutLimits } from "./output-limit.ts";
import { asksForUsage, checkWholeReply, PassedEvents, passedHeaders } from "./passed-events.ts";
import type { PassedRequest } from "./passed-request.ts";
import { isStreamText } from "./plain-events.ts";
import { readBody } from "./read-body.ts";
import type { Redact } from "./redactor.ts";
import { replaceValues } from "./replace-values.ts";
import { answering, type ProviderRequest, type Target, type Upstream } from "./upstream.ts";
import { listSearches, type TokenMeter } from "./usage.ts";
import { addUsage } from "./usage-forms.ts";

interface Passing {
  readonly attempt: Attempt;
  readonly redact: Redact;
  readonly meter: TokenMeter;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Posts a client's JSON with another model, and passes the answer's text on; chat completions report their
 * usage. An answer in the other form than the client asked for is returned as an upstream's, to be converted.
 */
export async function passRequest(
  target: Target,
  { json, body, upstreamType, header }: PassedRequest,
  { attempt, redact, meter, headers }: Passing,
): Promise<Upstream | null> {
  const streamOptions = Object(body["stream_options"]) as PassedRequest["body"];
  const isStreamed = body["stream"] === true;
  const isHidden = isStreamed && !asksForUsage(upstreamType, body);
  const usageOptions = isHidden && { stream_options: { ...streamOptions, include_usage: true } };
  const change = (request: ProviderRequest): ProviderRequest => {
    const ownHeaders = Array.from(passedHeaders, (name) => [name, header?.(name)]).filter(
      ([, headerValue]) => headerValue,
    );
    const hasPlace = !isHidden || "stream_options" in body;
    const openJson = hasPlace ? json : json.replace("{", '{"stream_options":{},');
    // Not kept while the reply flows.
    const cutFields = cutLimits(body, target.capabilities?.maxOutputTokens);
    const effortFields = fitEfforts(body, target.capabilities);
    const passedJson = replaceValues(openJson, {
      model: target.model,
      ...usageOptions,
      ...cutFields,
      ...effortFields,
    });
    const allHeaders = { ...request.headers, ...headers, ...Object.fromEntries(ownHeaders) };
    return { headers: allHeaders, body: passedJson };
  };
  meter.askedUsage = listSearches(target.model, body);
  const modelCall = { options: { prompt: [], headers }, attempt, change };
  const { takenResponse: streamedResponse } = await callModel(target, modelCall, () => true);
  if (streamedResponse === undefined) throw new BrokenReplyError(noReply); // each success is taken
  const passedEvents = new PassedEvents({ type: upstreamType, isHidden, meter });
  const pieces = redact.inPieces();
  const passText = (text: string | null) => {
    const passedText = pieces.add(passedEvents.add(text)) + (text === null ? pieces.end() : "");
    if (passedText === "") attempt.hear();
    const pendingSend = attempt.send(passedText);
    if (pendingSend !== undefined) return pendingSend.then(() => passedEvents.throwIfFailed());
    return passedEvents.throwIfFailed();
  };
  // A body is a stream or not by its text: labels are wrong. A client without a stream waits for all of it.
  let [whole, isStream] = ["", false as boolean | null];
  if (isStreamed) isStream = null;
  try {
    await readBody(streamedResponse, (bodyText) => {
      if (isStream === true) return passText(bodyText);
      whole += bodyText;
      if (whole.length > MAX_REPLY_BYTES) throw new BrokenReplyError(tooLarge);
      isStream ??= isStreamText(bodyText); // only white space was before
      return isStream === true ? passText(whole) : attempt.hear();
    });
  } catch (error) {
    if (!passedEvents.isEnded || !(error instanceof BrokenReplyError)) throw error;
    passedEvents.throwIfFailed();
    await attempt.send(pieces.end());
    return null;
  }
  if (isStream === true) {
    await passText(null);
    return null;
  }
  if (isStreamText(whole) === true) return answering(target.upstream, whole, "event-stream");
  const wholeReply = parseJson(whole);
  checkWholeReply(upstreamType, wholeReply);
  if (isStreamed) return answering(target.upstream, whole, "json");
  addUsage(meter, wholeReply);
  if (meter.reported === null) meter.written += estimateTextTokens(whole);
  await attempt.send(redact(whole));
  return null;
}
