import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { type Clock, readRuntime } from "../clock.ts";
import type { UndiciExchange } from "./undici-exchange.ts";

interface SessionOptions {
  /** The most streams until the server's own limit is known. */
  readonly streamLimit: number;
  /** Called for a request that the server has surely not processed. */
  readonly onUnprocessed: (exchange: UndiciExchange) => void;
  /** Called when the session may take more requests, or none any more. */
  readonly onChange: () => void;
  readonly clock?: Clock;
}

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = constants;

/** With Node's 64 KiB, an answer of 3 MB takes 50 round trips. */
const WINDOW_BYTES = 4 * 1024 * 1024;

/** In megabytes: no limit. Above it, Node resets streams whose answers arrive, which are billed. */
const MOST_MEMORY = 1_000_000;

/** Servers count resets, and end a session with too many of them: Node's after 1,000. */
const MOST_ABORTS = 500;

/** A silent session may be dead without a notice. All in milliseconds; chosen. */
const SILENT_MS = 30_000;
const SILENT_WITH_CALLS_MS = 3000;
const PING_MS = 2000;

/** An HTTP/2 session over one socket. Without calls in flight, it does not keep the process alive. */
export class Http2Session {
  /** The most streams at once. */
  streamLimit: number;
  readonly #session: ClientHttp2Session;
  readonly #listener: Pick<SessionOptions, "onUnprocessed" | "onChange">;
  #inFlight = 0;
  #abortCount = 0;
  readonly #runtimeClock: Clock;
  #heardAtMs: number;
  /** Streams above this id were not processed. */
  #lastStreamId = Number.POSITIVE_INFINITY;
  #isChecking = false;
  #stopWatching = () => {};

  constructor(
    sessionOrigin: string,
    tlsSocket: Socket,
    { streamLimit, clock = readRuntime({}).clock, ...listener }: SessionOptions,
  ) {
    const session = connect(sessionOrigin, {
      createConnection: () => tlsSocket,
      settings: { enablePush: false, initialWindowSize: WINDOW_BYTES },
      maxSessionMemory: MOST_MEMORY,
    });
    this.#session = session;
    this.#listener = listener;
    this.streamLimit = streamLimit;
    this.#runtimeClock = clock;
    this.#heardAtMs = clock.now();
    session.once("connect", () => session.setLocalWindowSize(WINDOW_BYTES));
    session.on("remoteSettings", ({ maxConcurrentStreams = Number.POSITIVE_INFINITY }) => {
      this.streamLimit = maxConcurrentStreams;
      this.#hearPeer();
      listener.onChange();
    });
    session.on("goaway", (_, lastStreamId) => {
      this.#lastStreamId = lastStreamId;
      this.drainSession();
    });
    session.on("error", () => undefined); // its streams report it
    session.once("close", listener.onChange);
    session.unref();
  }

  get isOver(): boolean {
    return this.#session.closed || this.#session.destroyed;
  }

  get isFull(): boolean {
    return this.#inFlight >= this.streamLimit;
  }

  /** Whether it takes a request now; after a silence, it does so when a ping has an answer. */
  takesRequests(): boolean {
    if (this.isOver || this.isFull) return false;
    if (this.#runtimeClock.now() - this.#heardAtMs > SILENT_MS) this.#checkPeer();
    return !this.#isChecking;
  }

  send(exchange: UndiciExchange): void {
    const { request, body } = exchange;
    const startedAtMs = this.#runtimeClock.now();
    const requestStream = this.#session.request(request.http2Headers, {
      endStream: body === null,
    });
    if (this.#inFlight === 0) {
      this.#session.ref();
      this.#watchSession();
    }
    this.#inFlight += 1;
    let isAnswered = false;
    let isWhole = false;
    // A reset without an error ends the stream too, after it has closed it; proxies cut answers so.
    requestStream.push = (...pushArguments) => {
      isWhole ||= pushArguments[0] === null && !requestStream.closed;
      return Readable.prototype.push.apply(requestStream, pushArguments);
    };
    requestStream.on("response", ({ ":status": status = 0, ...headers }) => {
      this.#hearPeer();
      isAnswered = true;
      if (!requestStream.writableFinished) requestStream.once("end", () => requestStream.destroy()); // the rest may never be read
      // Without Node's list of sensitive headers, a symbol.
      exchange.onResponseStart(null, status, Object.fromEntries(Object.entries(headers)));
    });
    requestStream.on("data", (bodyChunk: Uint8Array) => {
      this.#hearPeer();
      exchange.onResponseData(null, bodyChunk);
    });
    let failure: Error | null = null;
    requestStream.on("error", (streamError: Error) => (failure = streamError));
    requestStream.once("close", () => {
      this.#release();
      if (exchange.isOver) return;
      if (!isAnswered && this.#isUnprocessed(requestStream))
        return this.#listener.onUnprocessed(exchange);
      const isFullyRead = isWhole && requestStream.readableEnded;
      if (isFullyRead && requestStream.rstCode === NGHTTP2_NO_ERROR)
        return exchange.onResponseEnd();
      const resetError = Object.assign(new Error("The stream was reset."), {
        code: "ERR_HTTP2_STREAM_ERROR",
      });
      exchange.onResponseError(null, failure ?? resetError);
    });
    exchange.onRequestStart({
      abort: () => this.#abortStream(requestStream, startedAtMs),
      pause: () => requestStream.pause(),
      resume: () => requestStream.resume(),
    });
    if (body !== null) requestStream.end(body);
  }

  /** Takes no more requests, and ends after those in flight. */
  drainSession(): void {
    this.#session.close();
    this.#listener.onChange();
  }

  #abortStream(requestStream: ClientHttp2Stream, startedAtMs: number): void {
    if (requestStream.closed || requestStream.destroyed) return;
    requestStream.close(NGHTTP2_CANCEL);
    this.#abortCount += 1;
    if (this.#abortCount === MOST_ABORTS) this.drainSession();
    else if (this.#heardAtMs < startedAtMs) this.#checkPeer();
  }

  #isUnprocessed({ id, rstCode }: ClientHttp2Stream): boolean {
    return id === undefined || id > this.#lastStreamId || rstCode === NGHTTP2_REFUSED_STREAM;
  }

  #release(): void {
    this.#inFlight -= 1;
    if (this.#inFlight === 0) {
      this.#stopWatching();
      if (!this.#isChecking) this.#session.unref();
    }
    this.#listener.onChange();
  }

  /** Node may not report a connection that is reset while it writes: its calls would wait until their time is up. */
  #watchSession(): void {
    const sinceMs = this.#runtimeClock.now();
    this.#stopWatching = this.#runtimeClock.schedule(SILENT_WITH_CALLS_MS, () => {
      if (this.#heardAtMs <= sinceMs) this.#checkPeer();
      this.#watchSession();
    });
  }

  #hearPeer(): void {
    this.#heardAtMs = this.#runtimeClock.now();
  }

  /** Ends the session if it does not answer a ping. */
  #checkPeer(): void {
    if (this.#isChecking || this.#session.destroyed) return;
    this.#isChecking = true;
    this.#session.ref();
    // After a look at the socket: if this process was blocked, the answer may be there.
    const endSession = () => this.#isChecking && this.#destroy();
    const cancelPing = this.#runtimeClock.schedule(PING_MS, () => setImmediate(endSession));
    const onReply = (replyError: Error | null) => {
      if (replyError === null) this.#hearPeer();
      cancelPing();
      this.#isChecking = false;
      if (this.#inFlight === 0) this.#session.unref();
      this.#listener.onChange();
    };
    // Node sends no ping over a session that takes no more requests, but settings, which get a reply too.
    if (this.#session.closed) this.#session.settings({}, onReply);
    else if (!this.#session.ping(onReply)) this.#destroy();
  }

  /** Without a code, an answer that has begun would end as if it were whole. */
  #destroy(): void {
    const message = "The server did not answer a ping.";
    const error = Object.assign(new Error(message), { code: "ERR_HTTP2_STREAM_ERROR" });
    this.#session.destroy(error, NGHTTP2_CANCEL);
  }
}
