import type { Socket } from "node:net";
import { buildConnector } from "undici";

const connect = buildConnector({ allowH2: false });
const CONTINUE = Buffer.from("HTTP/1.1 100 ");
// Longer than any honest interim response, which has hardly a header.
const LONGEST_INTERIM_BYTES = 16_384;

/** Connects as undici does; what is read passes over `100 Continue`, at which undici gives up. */
export const connectPassingOverContinue: buildConnector.connector = (options, callback) =>
  connect(options, (...[error, socket]) => {
    if (error !== null) return callback(error, null);
    passOverContinue(socket);
    return callback(null, socket);
  });

function passOverContinue(socket: Socket): void {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  let held: Buffer | null = null;
  socket.read = (size?: number): Buffer | null => {
    for (let chunk = read(size); chunk !== null; chunk = read()) {
      const rest: Buffer = afterContinue(held === null ? chunk : Buffer.concat([held, chunk]));
      held = isContinue(rest) && rest.length < LONGEST_INTERIM_BYTES ? rest : null;
      if (held === null && rest.length > 0) return rest;
    }
    return null;
  };
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
