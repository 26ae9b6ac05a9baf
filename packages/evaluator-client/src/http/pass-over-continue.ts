import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";

const CONTINUE = Buffer.from("HTTP/1.1 100 ");
// Longer than any honest interim response, which has hardly a header.
const LONGEST_INTERIM_BYTES = 16_384;

const hosts = new Set<string>();

/** Makes later connections of all dispatchers to the URL's host skip `100 Continue`, which undici rejects. */
export function passOverContinueFrom(url: string): void {
  if (hosts.size === 0) {
    // Connections of any undici in this program, Node's own for `fetch` included.
    subscribe("undici:client:connected", (message) => {
      const { connectParams, socket } = message as {
        connectParams: { host: string };
        socket: Socket;
      };
      if (hosts.has(connectParams.host)) passOverContinue(socket);
    });
  }
  hosts.add(new URL(url).host);
}

/** Prototypes of sockets that skip it, by the prototype that each extends. */
const prototypes = new WeakMap<object, object>();
/** The part of an interim response that was received so far, by its socket. */
const heldBytes = new WeakMap<Socket, Buffer>();

// By its prototype: a `read` of each socket's own made a call a fifth dearer (benchmark: calls).
function passOverContinue(socket: Socket): void {
  const own = Object.getPrototypeOf(socket) as Socket;
  let prototype = prototypes.get(own);
  if (prototype === undefined) {
    prototype = Object.create(own, { read: { value: readPassingOver(own) } }) as object;
    prototypes.set(own, prototype).set(prototype, prototype);
  }
  Object.setPrototypeOf(socket, prototype);
}

function readPassingOver(own: Socket) {
  return function readPassingOver(this: Socket, size?: number): Buffer | null {
    let chunk = own.read.call(this, size) as Buffer | null;
    // Most chunks differ in this byte, which is checked at no cost.
    if (chunk === null || (chunk[9] !== CONTINUE[9] && !heldBytes.has(this))) return chunk;
    for (; chunk !== null; chunk = own.read.call(this) as Buffer | null) {
      const rest = afterContinue(Buffer.concat([heldBytes.get(this) ?? Buffer.of(), chunk]));
      heldBytes.delete(this);
      if (isContinue(rest) && rest.length < LONGEST_INTERIM_BYTES) heldBytes.set(this, rest);
      else if (rest.length > 0) return rest;
    }
    return null;
  };
}

function afterContinue(bytes: Buffer): Buffer {
  let rest = bytes;
  while (isContinue(rest) && rest.includes("\r\n\r\n")) {
    rest = rest.subarray(rest.indexOf("\r\n\r\n") + 4);
  }
  return rest;
}

/** Whether bytes begin an interim response; no JSON body contains this line. */
function isContinue(bytes: Buffer): boolean {
  return bytes.subarray(0, CONTINUE.length).equals(CONTINUE);
}
