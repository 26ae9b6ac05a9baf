import { promisify } from "node:util";
// A namespace import: if an old Node lacks one of the names, a named import fails with a useless error.
import * as zlib from "node:zlib";
import { ConnectionError } from "../errors.ts";
import { billingOf } from "./connection-failure.ts";
import type { HttpEndpoint } from "./http-client.ts";
import { bodyTooLarge, MAX_BODY_BYTES } from "./http-response.ts";

// Each chunk goes to another thread and back: 1.2 MB take 7 ms, and 40 ms in chunks of Node's 16 KiB.
const limits = { maxOutputLength: MAX_BODY_BYTES, chunkSize: 256 * 1024 };

const decoders = new Map<
  string,
  (bytes: Uint8Array, options: typeof limits) => Promise<Uint8Array>
>([
  ["gzip", promisify(zlib.gunzip)],
  ["x-gzip", promisify(zlib.gunzip)],
  ["deflate", promisify(zlib.inflate)],
  ["br", promisify(zlib.brotliDecompress)],
  ["zstd", promisify(zlib.zstdDecompress)],
]);

/** Undoes the `content-encoding` of a body, last coding first, never past {@link MAX_BODY_BYTES}. */
export async function decodeBody(
  bytes: Uint8Array,
  contentEncoding: string,
  endpoint: HttpEndpoint,
) {
  const codings = contentEncoding.split(",").map((coding) => coding.trim().toLowerCase());
  let decoded = bytes;
  for (const coding of codings.toReversed()) {
    if (coding === "" || coding === "identity") continue;
    const decode = decoders.get(coding);
    if (decode === undefined) {
      throw unreadable(`its encoding "${coding.slice(0, 20)}" is not known`, endpoint);
    }
    decoded = await decode(decoded, limits).catch((error: unknown) => {
      if (error instanceof RangeError) throw bodyTooLarge();
      throw unreadable(`its ${coding} data is broken or cut off`, endpoint);
    });
  }
  return decoded;
}

function unreadable(reason: string, endpoint: HttpEndpoint): ConnectionError {
  const { maybeBilled, note } = billingOf(endpoint);
  const message = `The response body cannot be decoded: ${reason}${note}.`;
  return new ConnectionError(message, { isRetryable: true, maybeBilled });
}
