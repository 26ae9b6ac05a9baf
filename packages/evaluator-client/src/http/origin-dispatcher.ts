import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { buildConnector, Pool } from "undici";
import type { OriginRequest, WaitingRequest } from "./http2-request.ts";
import type { Http2Session } from "./http2-session.ts";

/** The most sessions of one origin. Chosen: 800 calls at once at a usual server. */
const MOST_SESSIONS = 8;

/** The most streams of a session whose server has not sent its limit, as in nghttp2. */
const FIRST_STREAMS = 100;

/** The most times that a request is sent again which no server has processed. */
const MOST_REFUSALS = 5;

type PoolOptions = Pool.Options;

/** Sends the requests of one https origin: over HTTP/2 if the server offers it, else over a `Pool`. */
export class OriginDispatcher {
  readonly #origin: string;
  readonly #options: PoolOptions;
  readonly #connectAny = buildConnector({ allowH2: true, preferH2: true });
  readonly #waiting: WaitingRequest[] = [];
  readonly #sessions = new Set<Http2Session<WaitingRequest>>();
  #pool: Pool | null = null;
  #mostSessions = MOST_SESSIONS;
  /** The limit of the latest session, which is the first limit of the next. */
  #mostStreams = FIRST_STREAMS;
  #isConnecting = false;
  #isClosing = false;

  constructor(origin: string, options: PoolOptions) {
    this.#origin = origin;
    this.#options = options;
  }

  dispatch(request: OriginRequest): void {
    if (this.#pool === null) {
      this.#waiting.push({ ...request, headers: request.http2Headers, refusals: 0 });
      this.#send();
    } else {
      const { http1, body, exchange } = request;
      this.#pool.dispatch({ ...http1, body }, exchange);
    }
  }

  /** Ends all connections after the requests that wait or are in flight. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#send();
    await this.#pool?.close();
  }

  #send(): void {
    this.#forgetEnded();
    for (let request = this.#waiting[0]; request !== undefined; request = this.#waiting[0]) {
      const session = request.exchange.isOver ? null : this.#freeSession();
      if (session === undefined) break;
      this.#waiting.shift();
      session?.send(request);
    }
    if (this.#waiting.length > 0 && this.#mayConnect()) void this.#connect();
    else if (this.#isClosing && this.#waiting.length === 0) {
      for (const session of this.#sessions) if (!session.isOver) session.drain();
    }
  }

  #forgetEnded(): void {
    for (const session of this.#sessions) if (session.isOver) this.#sessions.delete(session);
    if (this.#sessions.size === 0) this.#mostSessions = MOST_SESSIONS;
  }

  #freeSession(): Http2Session<WaitingRequest> | undefined {
    return [...this.#sessions].find((session) => session.takes());
  }

  /** Another session is opened only if all are full. */
  #mayConnect(): boolean {
    const areFull = [...this.#sessions].every((session) => session.isFull);
    return !this.#isConnecting && areFull && this.#sessions.size < this.#mostSessions;
  }

  /** All requests that wait share one handshake, which shows the server's protocol. */
  async #connect(): Promise<void> {
    this.#isConnecting = true;
    try {
      const [socket, { Http2Session }] = await Promise.all([
        openSocket(this.#origin, this.#connectAny),
        import("./http2-session.ts"), // while the handshake takes its time
      ]);
      if (socket.alpnProtocol === "h2") this.#addSession(socket, Http2Session);
      else this.#usePool(socket);
    } catch (error) {
      if (this.#sessions.size > 0) this.#mostSessions = this.#sessions.size;
      else this.#failAll(error as Error);
    }
    this.#isConnecting = false;
    this.#send();
  }

  #addSession(socket: TLSSocket, Session: typeof Http2Session): void {
    const session: Http2Session<WaitingRequest> = new Session(this.#origin, socket, {
      most: this.#mostStreams,
      onChange: () => {
        this.#mostStreams = session.most;
        this.#send();
      },
      onUnprocessed: (request) => this.#sendAgain(request),
    });
    this.#sessions.add(session);
  }

  #sendAgain(request: WaitingRequest): void {
    request.refusals += 1;
    if (request.refusals > MOST_REFUSALS) {
      const error = new Error("The server processed none of the attempts to send the request.");
      return request.exchange.onResponseError(
        null,
        Object.assign(error, { code: "ERR_HTTP2_UNPROCESSED" }),
      );
    }
    this.#waiting.unshift(request);
    this.#send();
  }

  #usePool(socket: Socket): void {
    const pool = new Pool(this.#origin, { ...this.#options, connect: this.#connectorFrom(socket) });
    this.#pool = pool;
    for (const request of this.#waiting.splice(0))
      if (!request.exchange.isOver) this.dispatch(request);
    if (this.#isClosing) void pool.close();
  }

  /** Returns a connector of a `Pool` that begins with a socket. After a failure, the protocol is asked again. */
  #connectorFrom(first: Socket): buildConnector.connector {
    const connect = buildConnector({ allowH2: false });
    let held: Socket | null = first;
    return (options, callback) => {
      const socket = held;
      held = null;
      // Later, since undici does not resume within its own call.
      if (socket?.destroyed === false) return queueMicrotask(() => callback(null, socket));
      connect(options, (...result) => {
        if (result[0] !== null) this.#pool = null;
        callback(...result);
      });
    };
  }

  #failAll(error: Error): void {
    for (const { exchange } of this.#waiting.splice(0)) exchange.onResponseError(null, error);
  }
}

function openSocket(origin: string, connect: buildConnector.connector): Promise<TLSSocket> {
  const { hostname, host, protocol, port } = new URL(origin);
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
  const name = hostname.replace(/^\[|\]$/g, ""); // of an IPv6 address
  connect({ hostname: name, host, protocol, port }, (error, socket) => {
    if (error === null) resolve(socket as TLSSocket);
    else reject(error);
  });
  return promise;
}
