import type { Duplex } from "node:stream";
import { promisify } from "node:util";
// A namespace import: if an old Node lacks one of the names, a named import fails with a useless error.
import * as zlib from "node:zlib";
import { ConnectionError } from "../errors.ts";
import { toBilling } from "./connection-failure.ts";
import type { HttpEndpoint } from "./http-client.ts";
import { bodyTooLarge, MAX_BODY_BYTES } from "./http-response.ts";

// Each chunk goes to another thread and back: 1.2 MB take 7 ms, and 40 ms in chunks of Node's 16 KiB.
const decodingLimits = { maxOutputLength: MAX_BODY_BYTES, chunkSize: 256 * 1024 };

interface Decoder {
  readonly decodeWhole: (
    encodedBytes: Uint8Array,
    options: typeof decodingLimits,
  ) => Promise<Uint8Array>;
  readonly createStream: () => Duplex;
}

const gzipDecoder: Decoder = {
  decodeWhole: promisify(zlib.gunzip),
  createStream: zlib.createGunzip,
};
const decoders = new Map<string, Decoder>([
  ["gzip", gzipDecoder],
  ["x-gzip", gzipDecoder],
  ["deflate", { decodeWhole: promisify(zlib.inflate), createStream: zlib.createInflate }],
  [
    "br",
    { decodeWhole: promisify(zlib.brotliDecompress), createStream: zlib.createBrotliDecompress },
  ],
  [
    "zstd",
    { decodeWhole: promisify(zlib.zstdDecompress), createStream: zlib.createZstdDecompress },
  ],
]);

/** Undoes the `content-encoding` of a body, last coding first, never past {@link MAX_BODY_BYTES}. */
export async function decodeBody(
  encodedBytes: Uint8Array,
  contentEncoding: string,
  endpoint: HttpEndpoint,
) {
  let decodedBytes = encodedBytes;
  for (const contentCoding of listCodings(contentEncoding)) {
    const decoder = decoders.get(contentCoding);
    if (decoder === undefined) throw unreadable(unknownCoding(contentCoding), endpoint);
    decodedBytes = await decoder
      .decodeWhole(decodedBytes, decodingLimits)
      .catch(({ code }: NodeJS.ErrnoException) => {
        if (code === "ERR_BUFFER_TOO_LARGE") throw bodyTooLarge();
        throw unreadable(`its ${contentCoding} data is broken or cut off`, endpoint);
      });
  }
  return decodedBytes;
}

/** More codings are no server's; each has a buffer of its own. */
const MOST_CODINGS = 5;

/** Creates the streams that undo a `content-encoding`, last coding first. @throws TypeError for an unknown one */
export function createDecoders(contentEncoding: string): Duplex[] {
  const codings = listCodings(contentEncoding);
  const knownDecoders = codings.flatMap((contentCoding) => decoders.get(contentCoding) ?? []);
  const isKnown = knownDecoders.length === codings.length && codings.length <= MOST_CODINGS;
  if (!isKnown) throw new TypeError(unknownCoding(codings.join(", ")));
  return knownDecoders.map((decoder) => decoder.createStream());
}

/** Returns the codings of a body, the last first. */
function listCodings(contentEncoding: string): string[] {
  const allCodings = contentEncoding
    .split(",")
    .map((contentCoding) => contentCoding.trim().toLowerCase());
  return allCodings.filter((coding) => coding !== "" && coding !== "identity").toReversed();
}

function unknownCoding(contentCoding: string): string {
  return `its encoding "${contentCoding.slice(0, 20)}" is not known`;
}

function unreadable(failureReason: string, endpoint: HttpEndpoint): ConnectionError {
  const { maybeBilled, note } = toBilling(endpoint);
  const message = `The response body cannot be decoded: ${failureReason}${note}.`;
  return new ConnectionError(message, { isRetryable: true, maybeBilled });
}
