import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";

const CONTINUE = Buffer.from("HTTP/1.1 100 ");
// Longer than any honest interim response, which has hardly a header.
const LONGEST_INTERIM_BYTES = 16_384;

const passingHosts = new Set<string>();

/** Makes later connections of all dispatchers to the URL's host skip `100 Continue`, which undici rejects. */
export function passOverContinueFrom(requestUrl: string): void {
  if (passingHosts.size === 0) {
    // Connections of any undici in this program, Node's own for `fetch` included.
    subscribe("undici:client:connected", (message) => {
      const { connectParams, socket } = message as {
        connectParams: { host: string };
        socket: Socket;
      };
      if (passingHosts.has(connectParams.host)) passOverContinue(socket);
    });
  }
  passingHosts.add(new URL(requestUrl).host);
}

/** Prototypes of sockets that skip it, by the prototype that each extends. */
const prototypes = new WeakMap<object, object>();
/** The part of an interim response that was received so far, by its socket. */
const heldBytes = new WeakMap<Socket, Buffer>();

// By its prototype: a `read` of each socket's own made a call a fifth dearer (benchmark: calls).
function passOverContinue(socket: Socket): void {
  const socketPrototype = Object.getPrototypeOf(socket) as Socket;
  let prototype = prototypes.get(socketPrototype);
  if (prototype === undefined) {
    prototype = Object.create(socketPrototype, {
      read: { value: readPassingOver(socketPrototype) },
    }) as object;
    prototypes.set(socketPrototype, prototype).set(prototype, prototype);
  }
  Object.setPrototypeOf(socket, prototype);
}

function readPassingOver(socketPrototype: Socket) {
  return function readPassingOver(this: Socket, byteCount?: number): Buffer | null {
    let socketChunk = socketPrototype.read.call(this, byteCount) as Buffer | null;
    // Most chunks differ in this byte, which is checked at no cost.
    if (socketChunk === null || (socketChunk[9] !== CONTINUE[9] && !heldBytes.has(this)))
      return socketChunk;
    for (; socketChunk !== null; socketChunk = socketPrototype.read.call(this) as Buffer | null) {
      const remainingBytes = afterContinue(
        Buffer.concat([heldBytes.get(this) ?? Buffer.of(), socketChunk]),
      );
      heldBytes.delete(this);
      if (isContinue(remainingBytes) && remainingBytes.length < LONGEST_INTERIM_BYTES)
        heldBytes.set(this, remainingBytes);
      else if (remainingBytes.length > 0) return remainingBytes;
    }
    return null;
  };
}

function afterContinue(receivedBytes: Buffer): Buffer {
  let remainingBytes = receivedBytes;
  while (isContinue(remainingBytes) && remainingBytes.includes("\r\n\r\n")) {
    remainingBytes = remainingBytes.subarray(remainingBytes.indexOf("\r\n\r\n") + 4);
  }
  return remainingBytes;
}

/** Whether bytes begin an interim response; no JSON body contains this line. */
function isContinue(receivedBytes: Buffer): boolean {
  return receivedBytes.subarray(0, CONTINUE.length).equals(CONTINUE);
}
