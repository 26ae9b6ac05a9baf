import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Delivery } from "./delivery.ts";
import { halfOf } from "./half-of.ts";
import type { Reply } from "./reply.ts";

// A reset right behind the bytes would make the receiver drop them unread.
const beforeResetMs = 50;

/** Plays a delivery on the connection of a request. */
export async function sendOverHttp(outgoing: ServerResponse, delivery: Delivery): Promise<void> {
  const { reply, ending } = delivery;
  if (ending === "hang") return;
  if (reply === null) {
    outgoing.socket?.resetAndDestroy();
    return;
  }
  if (ending === "whole") {
    sendWhole(outgoing, reply);
    return;
  }
  await sendHalf(outgoing, reply);
  if (ending === "cut") {
    outgoing.socket?.end();
    return;
  }
  await sleep(beforeResetMs);
  outgoing.socket?.resetAndDestroy();
}

function sendWhole(outgoing: ServerResponse, { status, headers, body }: Reply): void {
  if (typeof body === "string") {
    outgoing.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) });
    outgoing.end(body);
    return;
  }
  outgoing.writeHead(status, headers);
  for (const chunk of body) outgoing.write(chunk);
  outgoing.end();
}

/** Announces the whole body and sends half of it. */
function sendHalf(outgoing: ServerResponse, { status, headers, body }: Reply): Promise<void> {
  const length = typeof body === "string" ? { "content-length": Buffer.byteLength(body) } : {};
  outgoing.writeHead(status, { ...headers, ...length });
  return new Promise((resolve) => {
    outgoing.write(halfOf(body), () => resolve());
  });
}
