import type { Transport } from "./transport.ts";

type Sender = Pick<Transport, "send">;

/** Returns the `send` of a transport whose code its first call loads, so that an import of the client is cheap. */
export function onceLoaded(load: () => Promise<Sender>): Transport["send"] {
  let loaded: Sender | undefined;
  return (request, context) => {
    if (loaded !== undefined) return loaded.send(request, context);
    return load().then((sender) => (loaded ??= sender).send(request, context));
  };
}
