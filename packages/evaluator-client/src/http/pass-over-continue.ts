import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";

const CONTINUE = Buffer.from("HTTP/1.1 100 ");
// Longer than any honest interim response, which has hardly a header.
const LONGEST_INTERIM_BYTES = 16_384;

/** A connection that any undici in this program opened, Node's own for `fetch` included. */
interface Connected {
  readonly connectParams: { readonly host: string };
  readonly socket: Socket;
}

const hosts = new Set<string>();

/**
 * Lets every later connection to the host of a URL pass over `100 Continue`, at which undici gives
 * up: it tells of each connection, whosever dispatcher opened it.
 */
export function passOverContinueFrom(url: string): void {
  if (hosts.size === 0) {
    subscribe("undici:client:connected", (message) => {
      const { connectParams, socket } = message as Connected;
      if (hosts.has(connectParams.host)) passOverContinue(socket);
    });
  }
  hosts.add(new URL(url).host);
}

/** Prototypes of sockets that pass it over, by the prototype that each stands on. */
const prototypes = new WeakMap<object, object>();
/** The beginning of an interim response whose end is not there yet, by its socket. */
const held = new WeakMap<Socket, Buffer>();

// By its prototype: a `read` of each socket's own made a call a fifth dearer (benchmark: calls).
function passOverContinue(socket: Socket): void {
  const own = Object.getPrototypeOf(socket) as Socket;
  let prototype = prototypes.get(own);
  if (prototype === undefined) {
    prototype = withRead(own);
    prototypes.set(own, prototype).set(prototype, prototype);
  }
  Object.setPrototypeOf(socket, prototype);
}

function withRead(own: Socket): object {
  return Object.create(own, {
    read: {
      value: function readPassingOver(this: Socket, size?: number): Buffer | null {
        const chunk = own.read.call(this, size) as Buffer | null;
        const isPlain = chunk === null || (!isContinue(chunk) && !held.has(this));
        return isPlain ? chunk : readRest(this, { own, chunk });
      },
    },
  }) as object;
}

function readRest(socket: Socket, given: { own: Socket; chunk: Buffer }): Buffer | null {
  const { own } = given;
  for (let chunk: Buffer | null = given.chunk; chunk !== null; chunk = own.read.call(socket)) {
    const start = held.get(socket);
    const rest = afterContinue(start === undefined ? chunk : Buffer.concat([start, chunk]));
    if (isContinue(rest) && rest.length < LONGEST_INTERIM_BYTES) {
      held.set(socket, rest);
    } else {
      held.delete(socket);
      if (rest.length > 0) return rest;
    }
  }
  return null;
}

/** What comes after the interim responses that are whole. */
function afterContinue(bytes: Buffer): Buffer {
  let rest = bytes;
  while (isContinue(rest)) {
    const end = rest.indexOf("\r\n\r\n");
    if (end < 0) break;
    rest = rest.subarray(end + 4);
  }
  return rest;
}

/** Whether bytes begin with a line that no JSON holds, so that they are not the middle of a body. */
function isContinue(bytes: Buffer): boolean {
  return bytes[9] === CONTINUE[9] && bytes.subarray(0, CONTINUE.length).equals(CONTINUE);
}
