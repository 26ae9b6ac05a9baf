// First: it looks at the program's dispatchers before undici is loaded.
import { dispatchersBefore } from "./before-undici.ts";
import type { Socket } from "node:net";
import { buildConnector, type Dispatcher, EnvHttpProxyAgent, Pool } from "undici";
import { ConnectionError } from "../errors.ts";
import { afterUndiciLoaded } from "./program-dispatcher.ts";

afterUndiciLoaded(dispatchersBefore);

// Over HTTP/2, undici 8.12 spins in native code for ever once two requests are aborted together.
const options = { allowH2: false };

/** Creates the dispatcher of the proxies, or of an origin; it begins with the open socket if there is one. */
export function createDispatcher(
  { origin, proxies }: { origin: string; proxies: EnvHttpProxyAgent.Options | null },
  firstSocket: Socket | null,
  onConnectFailed: () => void,
): Dispatcher {
  if (proxies !== null) return new EnvHttpProxyAgent({ ...proxies, ...options, noProxy: "" });
  const connectAnew = buildConnector(options);
  let heldSocket = firstSocket;
  const connect: buildConnector.connector = (connectTarget, callback) => {
    const takenSocket = heldSocket;
    heldSocket = null;
    // Later, since undici does not resume within its own call.
    if (takenSocket?.destroyed === false) return queueMicrotask(() => callback(null, takenSocket));
    connectAnew(connectTarget, (...connectResult) => {
      const [connectError] = connectResult;
      if (connectError === null) return callback(...connectResult);
      onConnectFailed();
      const isSpoken =
        Reflect.get(connectError, "code") !== "ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL";
      if (firstSocket === null || isSpoken) return callback(connectError, null);
      const message = `The server at ${origin} no longer speaks HTTP/1.1; nothing was sent, and nothing was billed. The next attempt asks for its protocol.`;
      callback(new ConnectionError(message, { isRetryable: true, maybeBilled: false }), null);
    });
  };
  return new Pool(origin, { ...options, connect });
}
