// First: it looks at the program's dispatchers before undici is loaded.
import { afterUndiciLoaded } from "./before-undici.ts";
import type { Socket } from "node:net";
import { buildConnector, type Dispatcher, EnvHttpProxyAgent, Pool } from "undici";
import type { Http1Dispatcher } from "./undici-exchange.ts";

afterUndiciLoaded();

// Over HTTP/2, undici 8.12 spins in native code for ever once two requests are aborted together.
// The attempt's own limit covers headers and body, so undici's are off.
const options = { allowH2: false, headersTimeout: 0, bodyTimeout: 0 };

/** Creates the dispatcher of an origin, or of the proxies. */
export function createDispatcher(
  origin: string,
  proxies: EnvHttpProxyAgent.Options | null,
): Http1Dispatcher {
  return overHttp1(
    proxies === null
      ? new Pool(origin, options)
      : new EnvHttpProxyAgent({ ...proxies, ...options }),
  );
}

/** Creates the dispatcher of an origin that begins with an open socket. */
export function dispatcherFrom(
  origin: string,
  first: Socket,
  onConnectFailed: () => void,
): Http1Dispatcher {
  const connectAnew = buildConnector({ allowH2: false });
  let held: Socket | null = first;
  const connect: buildConnector.connector = (target, callback) => {
    const socket = held;
    held = null;
    // Later, since undici does not resume within its own call.
    if (socket?.destroyed === false) return queueMicrotask(() => callback(null, socket));
    connectAnew(target, (...result) => {
      if (result[0] !== null) onConnectFailed();
      callback(...result);
    });
  };
  return overHttp1(new Pool(origin, { ...options, connect }));
}

function overHttp1(dispatcher: Dispatcher): Http1Dispatcher {
  return {
    dispatch: ({ http1, body, exchange }) => void dispatcher.dispatch({ ...http1, body }, exchange),
    close: () => dispatcher.close(),
  };
}
