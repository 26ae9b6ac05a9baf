import type { Duplex } from "node:stream";
import { promisify } from "node:util";
// A namespace import: if an old Node lacks one of the names, a named import fails with a useless error.
import * as zlib from "node:zlib";
import { ConnectionError } from "../errors.ts";
import { toBilling } from "./connection-failure.ts";
import type { HttpEndpoint } from "./http-client.ts";
import { bodyTooLarge, MAX_BODY_BYTES } from "./http-response.ts";

// Each chunk goes to another thread and back: 1.2 MB take 7 ms, and 40 ms in chunks of Node's 16 KiB.
const limits = { maxOutputLength: MAX_BODY_BYTES, chunkSize: 256 * 1024 };

interface Decoder {
  readonly whole: (bytes: Uint8Array, options: typeof limits) => Promise<Uint8Array>;
  readonly stream: () => Duplex;
}

const gzip: Decoder = { whole: promisify(zlib.gunzip), stream: zlib.createGunzip };
const decoders = new Map<string, Decoder>([
  ["gzip", gzip],
  ["x-gzip", gzip],
  ["deflate", { whole: promisify(zlib.inflate), stream: zlib.createInflate }],
  ["br", { whole: promisify(zlib.brotliDecompress), stream: zlib.createBrotliDecompress }],
  ["zstd", { whole: promisify(zlib.zstdDecompress), stream: zlib.createZstdDecompress }],
]);

/** Undoes the `content-encoding` of a body, last coding first, never past {@link MAX_BODY_BYTES}. */
export async function decodeBody(
  bytes: Uint8Array,
  contentEncoding: string,
  endpoint: HttpEndpoint,
) {
  let decodedBytes = bytes;
  for (const coding of listCodings(contentEncoding)) {
    const decoder = decoders.get(coding);
    if (decoder === undefined) throw unreadable(unknownCoding(coding), endpoint);
    decodedBytes = await decoder
      .whole(decodedBytes, limits)
      .catch(({ code }: NodeJS.ErrnoException) => {
        if (code === "ERR_BUFFER_TOO_LARGE") throw bodyTooLarge();
        throw unreadable(`its ${coding} data is broken or cut off`, endpoint);
      });
  }
  return decodedBytes;
}

/** More codings are no server's; each has a buffer of its own. */
const MOST_CODINGS = 5;

/** Creates the streams that undo a `content-encoding`, last coding first. @throws TypeError for an unknown one */
export function createDecoders(contentEncoding: string): Duplex[] {
  const codings = listCodings(contentEncoding);
  const knownDecoders = codings.flatMap((coding) => decoders.get(coding) ?? []);
  const isKnown = knownDecoders.length === codings.length && codings.length <= MOST_CODINGS;
  if (!isKnown) throw new TypeError(unknownCoding(codings.join(", ")));
  return knownDecoders.map((decoder) => decoder.stream());
}

/** Returns the codings of a body, the last first. */
function listCodings(contentEncoding: string): string[] {
  const all = contentEncoding.split(",").map((coding) => coding.trim().toLowerCase());
  return all.filter((coding) => coding !== "" && coding !== "identity").toReversed();
}

function unknownCoding(coding: string): string {
  return `its encoding "${coding.slice(0, 20)}" is not known`;
}

function unreadable(reason: string, endpoint: HttpEndpoint): ConnectionError {
  const { maybeBilled, note } = toBilling(endpoint);
  const message = `The response body cannot be decoded: ${reason}${note}.`;
  return new ConnectionError(message, { isRetryable: true, maybeBilled });
}
