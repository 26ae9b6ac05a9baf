import {
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";

interface Connection {
  readonly secured: TLSSocket;
  /** Called with each whole request, as text, and a socket that plays bytes of HTTP/1.1. */
  readonly onRequest: (socket: Socket, request: string) => void;
}

/** Serves HTTP/2 on a connection; bytes of HTTP/1.1 that answer a request are played as its stream. */
export function playHttp2({ secured, onRequest }: Connection): void {
  const session = performServerHandshake(secured);
  secured.emit("secureConnect"); // a socket without a `tls.Server` does not, and the session waits for it
  session.on("error", () => undefined);
  session.on("stream", (stream, headers) => {
    let body = "";
    stream.on("error", () => undefined);
    stream.on("data", (bytes: Buffer) => (body += bytes.toString("utf8")));
    stream.on("end", () => {
      if (stream.destroyed) return;
      onRequest(new PlayedStream(stream, secured) as unknown as Socket, textOf(headers, body));
    });
  });
}

function textOf(headers: IncomingHttpHeaders, body: string): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
  return `${headers[":method"]} ${headers[":path"]} HTTP/2\r\n${lines.join("")}\r\n${body}`;
}

/** Plays bytes of HTTP/1.1 as a stream of HTTP/2; the end of the socket ends the whole connection. */
class PlayedStream {
  readonly #stream: ServerHttp2Stream;
  readonly #secured: TLSSocket;
  #head = "";
  #left: number | null = null;

  constructor(stream: ServerHttp2Stream, secured: TLSSocket) {
    this.#stream = stream;
    this.#secured = secured;
  }

  get destroyed(): boolean {
    return this.#stream.destroyed;
  }

  get writable(): boolean {
    return this.#stream.writable;
  }

  get writableLength(): number {
    return this.#stream.writableLength;
  }

  once(event: "close", listener: () => void): void {
    this.#stream.once(event, listener);
  }

  write(given: string | Uint8Array, ...[done]: unknown[]): boolean {
    const bytes = typeof given === "string" ? Buffer.from(given, "latin1") : Buffer.from(given);
    if (this.destroyed) return false;
    const body = this.#left === null ? this.#readHead(bytes) : bytes;
    if (body !== null) this.#writeBody(body);
    if (typeof done === "function") setImmediate(() => setImmediate(done as () => void));
    return true;
  }

  end(given: string | Uint8Array = ""): void {
    this.write(given);
    if (this.#left === Number.POSITIVE_INFINITY) this.#stream.end();
    else if (this.#left !== 0) setImmediate(() => setImmediate(() => this.#secured.destroy()));
  }

  destroy(): void {
    this.#secured.destroy();
  }

  resetAndDestroy(): void {
    this.#secured.resetAndDestroy();
  }

  /** Sends the heads in the bytes, and returns the body's start; null if there is none yet. */
  #readHead(bytes: Buffer): Buffer | null {
    this.#head += bytes.toString("latin1");
    for (let end = this.#head.indexOf("\r\n\r\n"); end >= 0; end = this.#head.indexOf("\r\n\r\n")) {
      const [line = "", ...lines] = this.#head.slice(0, end).split("\r\n");
      const rest = Buffer.from(this.#head.slice(end + 4), "latin1");
      this.#head = this.#head.slice(end + 4);
      const status = Number(line.split(" ")[1]);
      const headers = Object.fromEntries(lines.map(splitHeader));
      if (status >= 200) return this.#respond(status, headers, rest);
      if (status > 100) this.#stream.additionalHeaders({ ":status": status, ...headers });
    }
    return null;
  }

  #respond(status: number, headers: Record<string, string>, rest: Buffer): Buffer {
    this.#left = status === 204 ? 0 : Number(headers["content-length"] ?? Number.POSITIVE_INFINITY);
    delete headers["transfer-encoding"];
    this.#stream.respond({ ":status": status, ...headers }, { endStream: this.#left === 0 });
    return rest;
  }

  #writeBody(bytes: Buffer): void {
    if (this.#left === 0 || this.#left === null) return;
    const body = bytes.subarray(0, this.#left);
    this.#left -= body.length;
    if (this.#left === 0) this.#stream.end(body);
    else this.#stream.write(body);
  }
}

function splitHeader(line: string): [string, string] {
  const at = line.indexOf(":");
  return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()];
}
