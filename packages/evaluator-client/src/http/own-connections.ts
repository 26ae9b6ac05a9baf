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
const sharedConnections = new Map<
  string,
  { connections: Connections; connectionUsers: Set<object> }
>();
/** The function that every socket connects with; interceptors replace it. */
let connectInUse: unknown;

/** Sends over the connections of a way, which all clients share, and notes their user. */
export function sendOver(
  connectionWay: Way,
  connectionUser: object,
  exchange: UndiciExchange,
): void {
  const connect: unknown = Reflect.get(Socket.prototype, "connect");
  if (connect !== connectInUse) {
    // Existing connections would bypass an interceptor of sockets that was added or removed.
    connectInUse = connect;
    for (const { connections } of sharedConnections.values())
      connections.close().catch(() => undefined);
    sharedConnections.clear();
  }
  let sharedEntry = sharedConnections.get(connectionWay.key);
  if (sharedEntry === undefined) {
    sharedEntry = { connections: new Connections(connectionWay), connectionUsers: new Set() };
    sharedConnections.set(connectionWay.key, sharedEntry);
  }
  sharedEntry.connectionUsers.add(connectionUser);
  sharedEntry.connections.send(exchange);
}

/** Closes the connections that only this user uses, once their requests are over. */
export async function leaveConnections(leavingUser: object): Promise<void> {
  const closing: Promise<void>[] = [];
  for (const [connectionKey, { connections, connectionUsers }] of sharedConnections) {
    if (!connectionUsers.delete(leavingUser) || connectionUsers.size > 0) continue;
    sharedConnections.delete(connectionKey);
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
  readonly #connectionWay: Way;
  /** Requests that wait for a session, or for the protocol of their origin. */
  readonly #waiting: UndiciExchange[] = [];
  readonly #sessions = new Set<Http2Session>();
  #http1Dispatcher: Dispatcher | null = null;
  #mostSessions = MOST_SESSIONS;
  /** The limit of the latest session, which is the first limit of the next. */
  #mostStreams = FIRST_STREAMS;
  #connecting: Promise<void> | null = null;
  #isClosing = false;

  constructor(connectionWay: Way) {
    this.#connectionWay = connectionWay;
  }

  send(exchange: UndiciExchange): void {
    if (this.#http1Dispatcher !== null) return sendOverHttp1(this.#http1Dispatcher, exchange);
    this.#waiting.push(exchange);
    this.#sendWaiting();
  }

  /** Ends all connections after the requests that wait or are in flight. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#sendWaiting();
    await this.#connecting;
    await this.#http1Dispatcher?.close();
  }

  #sendWaiting(): void {
    for (const session of this.#sessions) if (session.isOver) this.#sessions.delete(session);
    if (this.#sessions.size === 0) this.#mostSessions = MOST_SESSIONS;
    for (let exchange = this.#waiting[0]; exchange !== undefined; exchange = this.#waiting[0]) {
      const sessions = [...this.#sessions];
      const session = exchange.isOver
        ? null
        : sessions.find((openSession) => openSession.takesRequests());
      if (session === undefined) break;
      this.#waiting.shift();
      session?.send(exchange);
    }
    if (this.#waiting.length > 0 && this.#mayConnect()) this.#connecting = this.#connect();
    else if (this.#isClosing && this.#waiting.length === 0) {
      for (const session of this.#sessions) if (!session.isOver) session.drainSession();
    }
  }

  /** Another session is opened only if all are full. */
  #mayConnect(): boolean {
    const areFull = [...this.#sessions].every((session) => session.isFull);
    return this.#connecting === null && areFull && this.#sessions.size < this.#mostSessions;
  }

  /** All requests that wait share one handshake, which shows the server's protocol. */
  async #connect(): Promise<void> {
    const { origin, hasHttp2 } = this.#connectionWay;
    const opening = hasHttp2 ? openSocket(origin) : Promise.resolve(null);
    try {
      const loading = hasHttp2 ? import("./http2-session.ts") : null; // while the handshake takes its time
      const [socket, http2Module] = await Promise.all([opening, loading]);
      const isHttp2 = socket?.alpnProtocol === "h2" && http2Module !== null;
      if (isHttp2) this.#addSession(socket, http2Module.Http2Session);
      else await this.#useHttp1(socket);
    } catch (openingError) {
      (await opening.catch(() => null))?.destroy();
      if (this.#sessions.size > 0) this.#mostSessions = this.#sessions.size;
      else
        for (const exchange of this.#waiting.splice(0))
          exchange.onResponseError(null, openingError as Error);
    }
    this.#connecting = null;
    this.#sendWaiting();
  }

  #addSession(socket: TLSSocket, Session: typeof Http2Session): void {
    const session = new Session(this.#connectionWay.origin, socket, {
      streamLimit: this.#mostStreams,
      onChange: () => {
        this.#mostStreams = session.streamLimit;
        this.#sendWaiting();
      },
      onUnprocessed: (exchange) => this.#sendAgain(exchange),
    });
    this.#sessions.add(session);
  }

  #sendAgain(exchange: UndiciExchange): void {
    exchange.onUnprocessed();
    if (exchange.refusals > MOST_REFUSALS) {
      const message = `The server at ${this.#connectionWay.origin} refused the request again and again before it processed it; nothing was billed. Send fewer requests at once, or try again later.`;
      const openingError = new ConnectionError(message, { isRetryable: true, maybeBilled: false });
      return exchange.onResponseError(null, openingError);
    }
    this.#waiting.unshift(exchange);
    this.#sendWaiting();
  }

  async #useHttp1(socket: TLSSocket | null): Promise<void> {
    const { createDispatcher } = await loadUndici();
    const newDispatcher = createDispatcher(this.#connectionWay, socket, () => {
      // The protocol is asked for again.
      if (socket !== null) this.#http1Dispatcher = null;
    });
    this.#http1Dispatcher = newDispatcher;
    for (const exchange of this.#waiting.splice(0))
      if (!exchange.isOver) sendOverHttp1(newDispatcher, exchange);
    if (this.#isClosing) void newDispatcher.close();
  }
}

/** Loads undici, which costs more processor time than the rest of this package. */
function loadUndici() {
  return import("./undici-dispatchers.ts").catch(({ message: loadFailure }: Error) => {
    const message = `undici cannot be loaded: ${loadFailure}. If esbuild bundles this program as an ES module, keep undici out of it (--external:undici), or let a banner define "require".`;
    throw new ConfigurationError(message, { option: "transport" });
  });
}

function sendOverHttp1(dispatcher: Dispatcher, exchange: UndiciExchange): void {
  dispatcher.dispatch({ ...exchange.request.http1, body: exchange.body }, exchange);
}

async function openSocket(origin: string): Promise<TLSSocket> {
  const { connect } = await import("node:tls");
  const { hostname, port } = new URL(origin);
  const hostName = hostname.replace(/^\[|\]$/g, ""); // of an IPv6 address
  const tlsSocket = connect({
    host: hostName,
    port: Number(port || 443),
    ...(isIP(hostName) === 0 && { servername: hostName }),
    ALPNProtocols: ["h2", "http/1.1"],
  });
  tlsSocket.setKeepAlive(true, 60_000).setNoDelay(true);
  const timeoutError = new Error(`There was no connection within ${CONNECT_MS} ms.`);
  Object.assign(timeoutError, { code: "UND_ERR_CONNECT_TIMEOUT" });
  const connectTimer = setTimeout(() => tlsSocket.destroy(timeoutError), CONNECT_MS);
  await once(tlsSocket, "secureConnect").finally(() => clearTimeout(connectTimer));
  return tlsSocket;
}
