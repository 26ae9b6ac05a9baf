import { promisify } from "node:util";
// A namespace import: if an old Node lacks one of the names, a named import fails with a useless error.
import * as zlib from "node:zlib";
import { ConnectionError } from "../errors.ts";
import { billingOf, bodyTooLarge, type HttpEndpoint, MAX_BODY_BYTES } from "./http-client.ts";

// Each chunk goes to another thread and back: 1.2 MB take 7 ms, and 40 ms in chunks of Node's 16 KiB.
const limits = { maxOutputLength: MAX_BODY_BYTES, chunkSize: 256 * 1024 };

type Decoder = (bytes: Uint8Array, options: typeof limits) => Promise<Uint8Array>;

const decoders = new Map<string, Decoder>([
  ["gzip", promisify(zlib.gunzip)],
  ["x-gzip", promisify(zlib.gunzip)],
  ["deflate", promisify(zlib.inflate)],
  ["br", promisify(zlib.brotliDecompress)],
  ["zstd", promisify(zlib.zstdDecompress)],
]);

/** Undoes the `content-encoding` of a body, last coding first, never past {@link MAX_BODY_BYTES}. */
export async function decodeBody(
  bytes: Uint8Array,
  { contentEncoding, endpoint }: { contentEncoding: string; endpoint: HttpEndpoint },
): Promise<Uint8Array> {
  const codings = contentEncoding.split(",").map((coding) => coding.trim().toLowerCase());
  let decoded = bytes;
  for (const coding of codings.toReversed()) {
    if (coding !== "" && coding !== "identity")
      decoded = await decodeOnce(decoded, { coding, endpoint });
  }
  return decoded;
}

async function decodeOnce(
  bytes: Uint8Array,
  { coding, endpoint }: { coding: string; endpoint: HttpEndpoint },
): Promise<Uint8Array> {
  const decode = decoders.get(coding);
  if (decode === undefined) {
    throw unreadable(`its encoding "${coding.slice(0, 20)}" is not known`, endpoint);
  }
  try {
    return await decode(bytes, limits);
  } catch (error) {
    const isTooLarge = error instanceof RangeError;
    throw isTooLarge
      ? bodyTooLarge()
      : unreadable(`its ${coding} data is broken or cut off`, endpoint);
  }
}

function unreadable(reason: string, endpoint: HttpEndpoint): ConnectionError {
  const { maybeBilled, note } = billingOf(endpoint);
  const message = `The response body cannot be decoded: ${reason}${note}.`;
  return new ConnectionError(message, { isRetryable: true, maybeBilled });
}
