import type { EventSourceMessage } from "eventsource-parser";
import { parseJson } from "evaluator-kit";
import type { ClientApiType } from "../conversation/upstream-types.ts";
import {
  BrokenReplyError,
  brokenOff,
  MAX_REPLY_BYTES,
  noReply,
  serviceFailure,
  tooLarge,
} from "./broken-reply.ts";
import type { PassedRequest } from "./passed-request.ts";
import { eventParser } from "./event-parser.ts";
import { estimateDelta, type TokenMeter } from "./usage.ts";
import { addUsage, mayHaveUsage } from "./usage-forms.ts";

interface Form {
  /** In an event with a part of the reply; the events before the first one wait. */
  readonly word: RegExp;
  /** In the event that ends a whole reply. */
  readonly end: RegExp;
  /** The list of a whole reply in one body, and its fewest elements. */
  readonly list: string;
  readonly fewest: 0 | 1;
  /** Whether a body asks for the usage of a stream. */
  readonly asksForUsage: (requestBody: PassedRequest["body"]) => boolean;
  /** In an event that may be a failure. */
  readonly failure: RegExp;
  /** The fields with a text. */
  readonly texts: readonly string[];
  /** The client's headers that change a reply in its form. */
  readonly headers: readonly string[];
}

/** The events of each API. A quote in a text has a backslash, so that no text looks like a field. */
const formsByType: Readonly<Record<ClientApiType, Form>> = {
  "openai-chat": {
    word: /"(?:content|reasoning(?:_content)?|refusal|arguments|text)":\s*"(?!")|"(?:tool_calls|images)":\s*\[\s*\{|"(?:audio|function_call)":\s*\{|"finish_reason":\s*"/,
    end: /"finish_reason":\s*"/,
    list: "choices",
    fewest: 1,
    asksForUsage: (requestBody) => Object(requestBody["stream_options"])["include_usage"] === true,
    failure: /"error":\s*[{"]|"finish_reason":\s*"(?:error|malformed_function_call)"/i,
    texts: ["content", "reasoning", "reasoning_content", "refusal", "arguments", "text"],
    headers: ["openai-beta"],
  },
  "openai-responses": {
    word: /"type":\s*"response\.(?!(?:created|queued|in_progress|(?:output_item|content_part|reasoning_summary_part)\.added)")/,
    end: /"type":\s*"response\.(?:completed|incomplete)"/,
    list: "output",
    fewest: 0,
    asksForUsage: () => true,
    failure: /"type":\s*"(?:error|response\.failed)"/i,
    texts: ["delta"],
    headers: ["openai-beta"],
  },
  anthropic: {
    word: /"type":\s*"(?:content_block_delta|message_delta)"|"(?:tool_use_id|data)":\s*"|"input":\s*\{|"(?:text|thinking)":\s*"(?!")/,
    end: /"type":\s*"message_stop"/,
    list: "content",
    fewest: 0,
    asksForUsage: () => true,
    failure: /"type":\s*"error"/i,
    texts: ["text", "thinking", "partial_json"],
    headers: ["anthropic-beta", "anthropic-version"],
  },
};

// Services mix the forms of APIs.
const allForms = Object.values(formsByType);
const mayFail = new RegExp(allForms.map(({ failure }) => failure.source).join("|"), "i");

/** Headers that change a reply in its form. No other one is passed: the client's key is the router's. */
export const passedHeaders = new Set(allForms.flatMap(({ headers }) => headers));

interface PassedOptions {
  readonly type: ClientApiType;
  readonly meter: TokenMeter;
  /** Whether the client asked for no usage, so that events of usage alone are left out. */
  readonly isHidden: boolean;
}

/** Reads the events of a reply in the client's own API, and returns those that are whole. */
export class PassedEvents {
  readonly #options: PassedOptions;
  readonly #eventForm: Form;
  readonly #eventParser = eventParser((event) => this.#read(event));
  /** The whole events of this text. */
  #heldEvents: EventSourceMessage[] = [];
  #shownText = "";
  #heldText = "";
  #lastCharacters = "  ";
  #waitingText = "";
  #hasWord = false;
  #failure: BrokenReplyError | null = null;
  /** Whether the event that ends a reply was read; a connection can end without it. */
  isEnded = false;

  constructor(options: PassedOptions) {
    this.#options = options;
    this.#eventForm = formsByType[options.type];
  }

  /**
   * Returns the whole events, from the first with a part of the reply on; null is the end. Events in front of
   * a failure are returned if others were before. @throws BrokenReplyError
   */
  add(bodyText: string | null): string {
    this.throwIfFailed();
    this.#heldEvents = [];
    this.#shownText = "";
    if (bodyText !== null) this.#eventParser.feed(bodyText);
    else if (this.#eventParser.end()) this.#heldText = ""; // A client would fail at a part of an event.
    if (bodyText === null && !this.isEnded) this.#failure ??= new BrokenReplyError(brokenOff);
    const shownText = this.#toShown(bodyText);
    if (!this.#hasWord) {
      this.throwIfFailed();
      this.#waitingText += shownText;
      if (this.#waitingText.length > MAX_REPLY_BYTES) throw new BrokenReplyError(tooLarge);
      return "";
    }
    const waitingText = this.#waitingText;
    if (waitingText === "") return shownText;
    this.#waitingText = "";
    // Otherwise the reply has begun in the text that fails.
    this.throwIfFailed();
    return waitingText + shownText;
  }

  /** @throws BrokenReplyError after a failure */
  throwIfFailed(): void {
    if (this.#failure !== null) throw this.#failure;
  }

  #read(serverEvent: EventSourceMessage): void {
    if (this.#failure !== null) return;
    const { data } = serverEvent;
    const { isHidden, meter } = this.#options;
    if (data.trim() === "[DONE]") {
      if (!this.isEnded) this.#failure = new BrokenReplyError(brokenOff);
    } else if (mayFail.test(data)) {
      this.#failure = serviceFailure(parseJson(data));
    }
    if (this.#failure !== null) return;
    meter.written += estimateDelta(textsIn(data));
    const hasUsage = mayHaveUsage.test(data);
    if (hasUsage) addUsage(meter, parseJson(data));
    this.isEnded ||= this.#eventForm.end.test(data);
    this.#hasWord ||= this.isEnded || this.#eventForm.word.test(data);
    const isAlone = hasUsage && !/"choices":\s*\[\s*\{/.test(data);
    if (!isHidden) this.#heldEvents.push(serverEvent);
    else if (!isAlone) this.#shownText += `data: ${data}\n\n`;
  }

  #toShown(bodyText: string | null): string {
    if (this.#options.isHidden) return this.#shownText;
    if (this.#failure !== null) return this.#heldEvents.map(toText).join("");
    if (bodyText === null) return this.#heldText;
    const seenText = this.#lastCharacters + bodyText;
    const end = Math.max(...blankLines.map((each) => seenText.lastIndexOf(each) + each.length - 2));
    const shownText = end === 0 ? "" : this.#heldText + bodyText.slice(0, end);
    this.#heldText = (end === 0 ? this.#heldText : "") + bodyText.slice(end);
    if (this.#heldText.length > MAX_REPLY_BYTES) this.#failure = new BrokenReplyError(tooLarge);
    this.#lastCharacters = seenText.slice(-2);
    return shownText;
  }
}

/** Checks a whole reply in one body. @throws BrokenReplyError if it is an error or no reply */
export function checkWholeReply(apiType: ClientApiType, wholeReply: unknown): void {
  const failure = serviceFailure(wholeReply);
  if (failure !== null) throw failure;
  const { list: listName, fewest } = formsByType[apiType];
  const replyList: unknown = Object(wholeReply)[listName];
  if (!Array.isArray(replyList) || replyList.length < fewest) throw new BrokenReplyError(noReply);
}

/** Whether the client of a body gets the usage of its stream; it always does if its API has no option for it. */
export function asksForUsage(apiType: ClientApiType, requestBody: PassedRequest["body"]): boolean {
  return formsByType[apiType].asksForUsage(requestBody);
}

function toText({ event, data }: EventSourceMessage): string {
  const eventLine = event === undefined ? "" : `event: ${event}\n`;
  return `${eventLine}data: ${data.replaceAll("\n", "\ndata: ")}\n\n`;
}

const blankLines = ["\n\n", "\n\r\n", "\r\r"];

/** The texts in an event of each API, up to their ten-thousandth escape: more could take the stack's room. */
const eventTexts = new RegExp(
  String.raw`"(?:${[...new Set(allForms.flatMap(({ texts }) => texts))].join("|")})":\s*"([^"\\]*(?:\\.[^"\\]*){0,9999})`,
  "g",
);

function textsIn(eventData: string): string {
  return Array.from(eventData.matchAll(eventTexts), ([, eventText = ""]) => eventText).join("");
}
