import type { IncomingMessage, ServerResponse } from "node:http";
import type { Call } from "./call.ts";
import { collectText } from "./collect-text.ts";
import { onceOnly } from "./once-only.ts";
import { UnreadableBody } from "./unreadable-body.ts";

/** A call from a request over HTTP. */
export function httpCall(incoming: IncomingMessage, outgoing: ServerResponse): Call {
  const [path = "/", query = ""] = splitTarget(incoming.url ?? "/");
  const signal = onceOnly(() => signalOf(outgoing));
  return {
    method: incoming.method ?? "GET",
    path,
    get query() {
      return new URLSearchParams(query);
    },
    get signal() {
      return signal();
    },
    header: (name) => headerOf(incoming, name),
    readText: onceOnly(() => readText(incoming)),
  };
}

function splitTarget(target: string): string[] {
  const withoutOrigin = target.replace(/^https?:\/\/[^/?]*/i, "");
  return withoutOrigin.split(/\?(.*)/s, 2);
}

function headerOf({ headers }: IncomingMessage, name: string): string | null {
  const value = headers[name];
  return Array.isArray(value) ? value.join(", ") : (value ?? null);
}

function signalOf(outgoing: ServerResponse): AbortSignal {
  const controller = new AbortController();
  if (outgoing.destroyed) controller.abort();
  outgoing.once("close", () => controller.abort());
  return controller.signal;
}

function readText(incoming: IncomingMessage): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const collected = collectText();
  incoming.on("data", (chunk: Uint8Array) => {
    try {
      collected.add(chunk);
    } catch (error) {
      incoming.removeAllListeners("data").resume();
      reject(error);
    }
  });
  incoming.once("end", () => resolve(collected.text()));
  incoming.once("close", () => {
    if (!incoming.readableEnded) reject(new UnreadableBody("The body ended early."));
  });
  incoming.on("error", () => {}); // `close` follows
  return promise;
}
