import { once } from "node:events";
import { isIP, Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { EnvHttpProxyAgent } from "undici";
import { ConfigurationError } from "../errors.ts";
import type { Http2Session } from "./http2-session.ts";
import type { Http1Dispatcher, OriginRequest } from "./undici-exchange.ts";

/** A way to an origin: over HTTP/2 if it may, or through proxies. */
interface Way {
  /** Equal for ways that share connections. */
  readonly key: string;
  readonly origin: string;
  readonly proxies: EnvHttpProxyAgent.Options | null;
  readonly hasHttp2: boolean;
}

/** Dispatchers that all HTTP clients share, by origin or proxies, with the users of each. */
const shared = new Map<string, { dispatcher: Http1Dispatcher; users: Set<object> }>();
/** The function that every socket connects with; interceptors replace it. */
let connectInUse: unknown;

/** Returns the dispatcher of a way, which all clients share, and notes its user. */
export function dispatcherOf(way: Way, user: object): Http1Dispatcher {
  const connect: unknown = Reflect.get(Socket.prototype, "connect");
  if (connect !== connectInUse) {
    // Existing connections would bypass an interceptor of sockets that was added or removed.
    connectInUse = connect;
    for (const { dispatcher } of shared.values()) dispatcher.close().catch(() => undefined);
    shared.clear();
  }
  let entry = shared.get(way.key);
  if (entry === undefined) {
    entry = { dispatcher: createDispatcher(way), users: new Set() };
    shared.set(way.key, entry);
  }
  entry.users.add(user);
  return entry.dispatcher;
}

/** Closes the dispatchers that only this user uses, once their requests are over. */
export async function leave(user: object): Promise<void> {
  const closing: Promise<void>[] = [];
  for (const [key, { dispatcher, users }] of shared) {
    if (!users.delete(user) || users.size > 0) continue;
    shared.delete(key);
    closing.push(dispatcher.close());
  }
  await Promise.all(closing);
}

function createDispatcher({ origin, proxies, hasHttp2 }: Way): Http1Dispatcher {
  return hasHttp2 ? new OriginDispatcher(origin) : overUndici(origin, proxies);
}

/** Loads undici, which costs more processor time than the rest of this package. */
function loadUndici() {
  return import("./undici-dispatchers.ts").catch(({ message: reason }: Error) => {
    const message = `undici cannot be loaded: ${reason}. If esbuild bundles this program as an ES module, keep undici out of it (--external:undici), or let a banner define "require".`;
    throw new ConfigurationError(message, { option: "transport" });
  });
}

function overUndici(origin: string, proxies: Way["proxies"]): Http1Dispatcher {
  let opened: Http1Dispatcher | null = null;
  const opening = loadUndici().then(({ createDispatcher: create }) => {
    return (opened = create(origin, proxies));
  });
  return {
    dispatch(request) {
      if (opened !== null) return opened.dispatch(request);
      const { exchange } = request;
      opening.then(
        (dispatcher) => exchange.isOver || dispatcher.dispatch(request),
        (error: Error) => exchange.onResponseError(null, error),
      );
    },
    close: async () => (await opening).close(),
  };
}

/** The most sessions of one origin. Chosen: 800 calls at once at a usual server. */
const MOST_SESSIONS = 8;

/** The most streams of a session whose server has not sent its limit, as in nghttp2. */
const FIRST_STREAMS = 100;

/** The most times that a request is sent again which no server has processed. */
const MOST_REFUSALS = 5;

/** As long as undici gives a connection, in milliseconds. */
const CONNECT_MS = 10_000;

/** A request that waits for a session, or for the protocol of its origin. */
interface WaitingRequest extends OriginRequest {
  /** How often a server has not processed it. */
  refusals: number;
}

/**
 * Sends the requests of one https origin: over HTTP/2 if the server offers it, else over undici, which
 * is loaded only then.
 */
class OriginDispatcher {
  readonly #origin: string;
  readonly #waiting: WaitingRequest[] = [];
  readonly #sessions = new Set<Http2Session<WaitingRequest>>();
  #http1: Http1Dispatcher | null = null;
  #mostSessions = MOST_SESSIONS;
  /** The limit of the latest session, which is the first limit of the next. */
  #mostStreams = FIRST_STREAMS;
  #isConnecting = false;
  #isClosing = false;

  constructor(origin: string) {
    this.#origin = origin;
  }

  dispatch(request: OriginRequest): void {
    if (this.#http1 !== null) return this.#http1.dispatch(request);
    this.#waiting.push({ ...request, refusals: 0 });
    this.#send();
  }

  /** Ends all connections after the requests that wait or are in flight. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#send();
    await this.#http1?.close();
  }

  #send(): void {
    this.#forgetEnded();
    for (let request = this.#waiting[0]; request !== undefined; request = this.#waiting[0]) {
      const sessions = [...this.#sessions];
      const session = request.exchange.isOver ? null : sessions.find((one) => one.takes());
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

  /** Another session is opened only if all are full. */
  #mayConnect(): boolean {
    const areFull = [...this.#sessions].every((session) => session.isFull);
    return !this.#isConnecting && areFull && this.#sessions.size < this.#mostSessions;
  }

  /** All requests that wait share one handshake, which shows the server's protocol. */
  async #connect(): Promise<void> {
    this.#isConnecting = true;
    const opening = openSocket(this.#origin);
    try {
      const [socket, { Http2Session }] = await Promise.all([
        opening,
        import("./http2-session.ts"), // while the handshake takes its time
      ]);
      if (socket.alpnProtocol === "h2") this.#addSession(socket, Http2Session);
      else await this.#useHttp1(socket);
    } catch (error) {
      (await opening.catch(() => null))?.destroy();
      if (this.#sessions.size > 0) this.#mostSessions = this.#sessions.size;
      else
        for (const { exchange } of this.#waiting.splice(0))
          exchange.onResponseError(null, error as Error);
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

  /** After a connection fails, the protocol is asked for again. */
  async #useHttp1(socket: TLSSocket): Promise<void> {
    const { dispatcherFrom } = await loadUndici();
    const http1 = dispatcherFrom(this.#origin, socket, () => (this.#http1 = null));
    this.#http1 = http1;
    for (const request of this.#waiting.splice(0))
      if (!request.exchange.isOver) http1.dispatch(request);
    if (this.#isClosing) void http1.close();
  }
}

async function openSocket(origin: string): Promise<TLSSocket> {
  const { connect } = await import("node:tls");
  const { hostname, port } = new URL(origin);
  const host = hostname.replace(/^\[|\]$/g, ""); // of an IPv6 address
  const socket = connect({
    host,
    port: Number(port || 443),
    ...(isIP(host) === 0 && { servername: host }),
    ALPNProtocols: ["h2", "http/1.1"],
  });
  socket.setKeepAlive(true, 60_000).setNoDelay(true);
  const timer = setTimeout(() => socket.destroy(connectTimeout()), CONNECT_MS);
  await once(socket, "secureConnect").finally(() => clearTimeout(timer));
  return socket;
}

function connectTimeout(): Error {
  const message = `There was no connection within ${CONNECT_MS} ms.`;
  return Object.assign(new Error(message), { code: "UND_ERR_CONNECT_TIMEOUT" });
}
