import { once } from "node:events";
import { isIP, Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Dispatcher, EnvHttpProxyAgent } from "undici";
import { ConfigurationError, ConnectionError } from "../errors.ts";
import type { Http2Session } from "./http2-session.ts";
import type { UndiciExchange } from "./undici-exchange.ts";

/** A way to an origin: over HTTP/2 if it may, or through proxies. */
interface Way {
  /** Equal for ways that share connections. */
  readonly key: string;
  readonly origin: string;
  readonly proxies: EnvHttpProxyAgent.Options | null;
  readonly hasHttp2: boolean;
}

/** Connections that all HTTP clients share, by origin or proxies, with the users of each. */
const sharedConnections = new Map<string, { connections: Connections; users: Set<object> }>();
/** The function that every socket connects with; interceptors replace it. */
let connectInUse: unknown;

/** Sends over the connections of a way, which all clients share, and notes their user. */
export function sendOver(way: Way, user: object, exchange: UndiciExchange): void {
  const connect: unknown = Reflect.get(Socket.prototype, "connect");
  if (connect !== connectInUse) {
    // Existing connections would bypass an interceptor of sockets that was added or removed.
    connectInUse = connect;
    for (const { connections } of sharedConnections.values())
      connections.close().catch(() => undefined);
    sharedConnections.clear();
  }
  let entry = sharedConnections.get(way.key);
  if (entry === undefined) {
    entry = { connections: new Connections(way), users: new Set() };
    sharedConnections.set(way.key, entry);
  }
  entry.users.add(user);
  entry.connections.send(exchange);
}

/** Closes the connections that only this user uses, once their requests are over. */
export async function leave(user: object): Promise<void> {
  const closing: Promise<void>[] = [];
  for (const [key, { connections, users }] of sharedConnections) {
    if (!users.delete(user) || users.size > 0) continue;
    sharedConnections.delete(key);
    closing.push(connections.close());
  }
  await Promise.all(closing);
}

/** The most sessions of one origin. Chosen: 800 calls at once at a usual server. */
const MOST_SESSIONS = 8;

/** The most streams of a session whose server has not sent its limit, as in nghttp2. */
const FIRST_STREAMS = 100;

/** The most times that a request is sent again which no server has processed. */
const MOST_REFUSALS = 5;

/** As long as undici gives a connection, in milliseconds. */
const CONNECT_MS = 10_000;

/**
 * The connections of a way: HTTP/2 sessions if an https server offers it, else those of a dispatcher of
 * undici, which is loaded only then.
 */
class Connections {
  readonly #way: Way;
  /** Requests that wait for a session, or for the protocol of their origin. */
  readonly #waiting: UndiciExchange[] = [];
  readonly #sessions = new Set<Http2Session>();
  #http1: Dispatcher | null = null;
  #mostSessions = MOST_SESSIONS;
  /** The limit of the latest session, which is the first limit of the next. */
  #mostStreams = FIRST_STREAMS;
  #connecting: Promise<void> | null = null;
  #isClosing = false;

  constructor(way: Way) {
    this.#way = way;
  }

  send(exchange: UndiciExchange): void {
    if (this.#http1 !== null) return sendOverHttp1(this.#http1, exchange);
    this.#waiting.push(exchange);
    this.#send();
  }

  /** Ends all connections after the requests that wait or are in flight. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#send();
    await this.#connecting;
    await this.#http1?.close();
  }

  #send(): void {
    for (const session of this.#sessions) if (session.isOver) this.#sessions.delete(session);
    if (this.#sessions.size === 0) this.#mostSessions = MOST_SESSIONS;
    for (let exchange = this.#waiting[0]; exchange !== undefined; exchange = this.#waiting[0]) {
      const sessions = [...this.#sessions];
      const session = exchange.isOver ? null : sessions.find((one) => one.takes());
      if (session === undefined) break;
      this.#waiting.shift();
      session?.send(exchange);
    }
    if (this.#waiting.length > 0 && this.#mayConnect()) this.#connecting = this.#connect();
    else if (this.#isClosing && this.#waiting.length === 0) {
      for (const session of this.#sessions) if (!session.isOver) session.drain();
    }
  }

  /** Another session is opened only if all are full. */
  #mayConnect(): boolean {
    const areFull = [...this.#sessions].every((session) => session.isFull);
    return this.#connecting === null && areFull && this.#sessions.size < this.#mostSessions;
  }

  /** All requests that wait share one handshake, which shows the server's protocol. */
  async #connect(): Promise<void> {
    const { origin, hasHttp2 } = this.#way;
    const opening = hasHttp2 ? openSocket(origin) : Promise.resolve(null);
    try {
      const loading = hasHttp2 ? import("./http2-session.ts") : null; // while the handshake takes its time
      const [socket, http2] = await Promise.all([opening, loading]);
      const isHttp2 = socket?.alpnProtocol === "h2" && http2 !== null;
      if (isHttp2) this.#addSession(socket, http2.Http2Session);
      else await this.#useHttp1(socket);
    } catch (error) {
      (await opening.catch(() => null))?.destroy();
      if (this.#sessions.size > 0) this.#mostSessions = this.#sessions.size;
      else
        for (const exchange of this.#waiting.splice(0))
          exchange.onResponseError(null, error as Error);
    }
    this.#connecting = null;
    this.#send();
  }

  #addSession(socket: TLSSocket, Session: typeof Http2Session): void {
    const session = new Session(this.#way.origin, socket, {
      most: this.#mostStreams,
      onChange: () => {
        this.#mostStreams = session.most;
        this.#send();
      },
      onUnprocessed: (exchange) => this.#sendAgain(exchange),
    });
    this.#sessions.add(session);
  }

  #sendAgain(exchange: UndiciExchange): void {
    exchange.onUnprocessed();
    if (exchange.refusals > MOST_REFUSALS) {
      const message = `The server at ${this.#way.origin} refused the request again and again before it processed it; nothing was billed. Send fewer requests at once, or try again later.`;
      const error = new ConnectionError(message, { isRetryable: true, maybeBilled: false });
      return exchange.onResponseError(null, error);
    }
    this.#waiting.unshift(exchange);
    this.#send();
  }

  async #useHttp1(socket: TLSSocket | null): Promise<void> {
    const { createDispatcher } = await loadUndici();
    const http1 = createDispatcher(this.#way, socket, () => {
      // The protocol is asked for again.
      if (socket !== null) this.#http1 = null;
    });
    this.#http1 = http1;
    for (const exchange of this.#waiting.splice(0))
      if (!exchange.isOver) sendOverHttp1(http1, exchange);
    if (this.#isClosing) void http1.close();
  }
}

/** Loads undici, which costs more processor time than the rest of this package. */
function loadUndici() {
  return import("./undici-dispatchers.ts").catch(({ message: reason }: Error) => {
    const message = `undici cannot be loaded: ${reason}. If esbuild bundles this program as an ES module, keep undici out of it (--external:undici), or let a banner define "require".`;
    throw new ConfigurationError(message, { option: "transport" });
  });
}

function sendOverHttp1(dispatcher: Dispatcher, exchange: UndiciExchange): void {
  dispatcher.dispatch({ ...exchange.request.http1, body: exchange.body }, exchange);
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
  const late = new Error(`There was no connection within ${CONNECT_MS} ms.`);
  Object.assign(late, { code: "UND_ERR_CONNECT_TIMEOUT" });
  const timer = setTimeout(() => socket.destroy(late), CONNECT_MS);
  await once(socket, "secureConnect").finally(() => clearTimeout(timer));
  return socket;
}
