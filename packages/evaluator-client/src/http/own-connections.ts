import { Socket } from "node:net";
import type { proxiesInUse } from "./network-environment.ts";
import { OriginDispatcher } from "./origin-dispatcher.ts";
import type { Http1Dispatcher } from "./undici-dispatchers.ts";

/** A way to an origin: over HTTP/2 if it may, or through proxies. */
interface Way {
  /** Equal for ways that share connections. */
  readonly key: string;
  readonly origin: string;
  readonly proxies: ReturnType<typeof proxiesInUse>;
  readonly hasHttp2: boolean;
}

function createDispatcher({ origin, proxies, hasHttp2 }: Way): Http1Dispatcher {
  return hasHttp2 ? new OriginDispatcher(origin) : overUndici(origin, proxies);
}

/** Sends over undici, which is loaded here: it costs more processor time than the rest of this package. */
function overUndici(origin: string, proxies: Way["proxies"]): Http1Dispatcher {
  let opened: Http1Dispatcher | null = null;
  const opening = import("./undici-dispatchers.ts").then(({ createDispatcher: create }) => {
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
