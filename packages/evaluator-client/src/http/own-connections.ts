// First: it looks at the program's dispatchers before undici is loaded.
import { afterUndiciLoaded } from "./before-undici.ts";
import { Socket } from "node:net";
import { type Dispatcher, EnvHttpProxyAgent, Pool } from "undici";
import type { proxiesInUse } from "./network-environment.ts";
import { OriginDispatcher } from "./origin-dispatcher.ts";

afterUndiciLoaded();

// Over HTTP/2, undici 8.12 spins in native code for ever once two requests are aborted together.
// The attempt's own limit covers headers and body, so undici's are off.
const options = { allowH2: false, headersTimeout: 0, bodyTimeout: 0 };

/** A way to an origin: over HTTP/2 if it may, or through proxies. */
interface Way {
  /** Equal for ways that share connections. */
  readonly key: string;
  readonly origin: string;
  readonly proxies: ReturnType<typeof proxiesInUse>;
  readonly hasHttp2: boolean;
}

type OwnDispatcher = Pick<OriginDispatcher, "dispatch" | "close">;

function createDispatcher({ origin, proxies, hasHttp2 }: Way): OwnDispatcher {
  if (hasHttp2) return new OriginDispatcher(origin, options);
  return overHttp1(
    proxies === null
      ? new Pool(origin, options)
      : new EnvHttpProxyAgent({ ...proxies, ...options }),
  );
}

function overHttp1(dispatcher: Dispatcher): OwnDispatcher {
  return {
    dispatch: ({ http1, body, exchange }) => void dispatcher.dispatch({ ...http1, body }, exchange),
    close: () => dispatcher.close(),
  };
}

/** Dispatchers that all HTTP clients share, by origin or proxies, with the users of each. */
const shared = new Map<string, { dispatcher: OwnDispatcher; users: Set<object> }>();
/** The function that every socket connects with; interceptors replace it. */
let connectInUse: unknown;

/** Returns the dispatcher of a way, which all clients share, and notes its user. */
function dispatcherOf(way: Way, user: object): OwnDispatcher {
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
async function leave(user: object): Promise<void> {
  const closing: Promise<void>[] = [];
  for (const [key, { dispatcher, users }] of shared) {
    if (!users.delete(user) || users.size > 0) continue;
    shared.delete(key);
    closing.push(dispatcher.close());
  }
  await Promise.all(closing);
}

/** The connections of all HTTP clients. */
export const ownConnections = { dispatcherOf, leave };

export type OwnConnections = typeof ownConnections;
