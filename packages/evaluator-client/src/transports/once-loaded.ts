import type { Transport } from "./transport.ts";

type Sender = Pick<Transport, "send">;

/** Returns the `send` of a transport whose code its first call loads, so that an import of the client is cheap. */
export function onceLoaded(load: () => Promise<Sender>): Transport["send"] {
  let loadedSender: Sender | undefined;
  return (request, context) => {
    if (loadedSender !== undefined) return loadedSender.send(request, context);
    return load().then((sender) => (loadedSender ??= sender).send(request, context));
  };
}
