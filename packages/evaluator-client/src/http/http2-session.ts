import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { type Clock, readRuntime } from "../clock.ts";
import type { UndiciExchange } from "./undici-exchange.ts";

interface SessionOptions {
  /** The most streams until the server's own limit is known. */
  readonly most: number;
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
  most: number;
  readonly #session: ClientHttp2Session;
  readonly #listener: Pick<SessionOptions, "onUnprocessed" | "onChange">;
  #inFlight = 0;
  #aborts = 0;
  readonly #clock: Clock;
  #heardAtMs: number;
  /** Streams above this id were not processed. */
  #lastStreamId = Number.POSITIVE_INFINITY;
  #isChecking = false;
  #stopWatching = () => {};

  constructor(
    origin: string,
    socket: Socket,
    { most, clock = readRuntime({}).clock, ...listener }: SessionOptions,
  ) {
    const session = connect(origin, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: WINDOW_BYTES },
      maxSessionMemory: MOST_MEMORY,
    });
    this.#session = session;
    this.#listener = listener;
    this.most = most;
    this.#clock = clock;
    this.#heardAtMs = clock.now();
    session.once("connect", () => session.setLocalWindowSize(WINDOW_BYTES));
    session.on("remoteSettings", ({ maxConcurrentStreams = Number.POSITIVE_INFINITY }) => {
      this.most = maxConcurrentStreams;
      this.#hear();
      listener.onChange();
    });
    session.on("goaway", (_, lastStreamId) => {
      this.#lastStreamId = lastStreamId;
      this.drain();
    });
    session.on("error", () => undefined); // its streams report it
    session.once("close", listener.onChange);
    session.unref();
  }

  get isOver(): boolean {
    return this.#session.closed || this.#session.destroyed;
  }

  get isFull(): boolean {
    return this.#inFlight >= this.most;
  }

  /** Whether it takes a request now; after a silence, it does so when a ping has an answer. */
  takes(): boolean {
    if (this.isOver || this.isFull) return false;
    if (this.#clock.now() - this.#heardAtMs > SILENT_MS) this.#check();
    return !this.#isChecking;
  }

  send(exchange: UndiciExchange): void {
    const { request, body } = exchange;
    const startedAtMs = this.#clock.now();
    const stream = this.#session.request(request.http2Headers, { endStream: body === null });
    if (this.#inFlight === 0) {
      this.#session.ref();
      this.#watch();
    }
    this.#inFlight += 1;
    let isAnswered = false;
    let isWhole = false;
    // A reset without an error ends the stream too, after it has closed it; proxies cut answers so.
    stream.push = (...args) => {
      isWhole ||= args[0] === null && !stream.closed;
      return Readable.prototype.push.apply(stream, args);
    };
    stream.on("response", ({ ":status": status = 0, ...headers }) => {
      this.#hear();
      isAnswered = true;
      if (!stream.writableFinished) stream.once("end", () => stream.destroy()); // the rest may never be read
      // Without Node's list of sensitive headers, a symbol.
      exchange.onResponseStart(null, status, Object.fromEntries(Object.entries(headers)));
    });
    stream.on("data", (chunk: Uint8Array) => {
      this.#hear();
      exchange.onResponseData(null, chunk);
    });
    let failure: Error | null = null;
    stream.on("error", (error: Error) => (failure = error));
    stream.once("close", () => {
      this.#release();
      if (exchange.isOver) return;
      if (!isAnswered && this.#isUnprocessed(stream)) return this.#listener.onUnprocessed(exchange);
      const isRead = isWhole && stream.readableEnded;
      if (isRead && stream.rstCode === NGHTTP2_NO_ERROR) return exchange.onResponseEnd();
      const reset = Object.assign(new Error("The stream was reset."), {
        code: "ERR_HTTP2_STREAM_ERROR",
      });
      exchange.onResponseError(null, failure ?? reset);
    });
    exchange.onRequestStart({
      abort: () => this.#abort(stream, startedAtMs),
      pause: () => stream.pause(),
      resume: () => stream.resume(),
    });
    if (body !== null) stream.end(body);
  }

  /** Takes no more requests, and ends after those in flight. */
  drain(): void {
    this.#session.close();
    this.#listener.onChange();
  }

  #abort(stream: ClientHttp2Stream, startedAtMs: number): void {
    if (stream.closed || stream.destroyed) return;
    stream.close(NGHTTP2_CANCEL);
    this.#aborts += 1;
    if (this.#aborts === MOST_ABORTS) this.drain();
    else if (this.#heardAtMs < startedAtMs) this.#check();
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
  #watch(): void {
    const sinceMs = this.#clock.now();
    this.#stopWatching = this.#clock.schedule(SILENT_WITH_CALLS_MS, () => {
      if (this.#heardAtMs <= sinceMs) this.#check();
      this.#watch();
    });
  }

  #hear(): void {
    this.#heardAtMs = this.#clock.now();
  }

  /** Ends the session if it does not answer a ping. */
  #check(): void {
    if (this.#isChecking || this.#session.destroyed) return;
    this.#isChecking = true;
    this.#session.ref();
    // After a look at the socket: if this process was blocked, the answer may be there.
    const end = () => this.#isChecking && this.#destroy();
    const cancel = this.#clock.schedule(PING_MS, () => setImmediate(end));
    const onReply = (error: Error | null) => {
      if (error === null) this.#hear();
      cancel();
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
