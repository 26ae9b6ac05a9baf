import { promisify } from "node:util";
import { gunzip, inflate, zstdDecompress } from "node:zlib";
import { systemErrorCode } from "./errors.ts";

/** A request body that cannot be unpacked, with the HTTP status to answer. */
export class UnpackError extends Error {
  readonly status: 400 | 413 | 415;

  constructor(status: UnpackError["status"], message: string) {
    super(message);
    this.name = "UnpackError";
    this.status = status;
  }
}

type Decode = (packedBytes: ArrayBuffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const decodeByEncoding: Readonly<Record<string, Decode>> = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  deflate: promisify(inflate),
  zstd: promisify(zstdDecompress), // Codex, and the vendor's SDK on Python 3.14
};

const MEBIBYTE = 1024 * 1024;
/** The most bytes from a packed byte, above 1 MiB. Chosen: JSON of conversations shrinks to a fifth or a twentieth. */
const MOST_RATIO = 100;

/**
 * Unpacks a body by its `Content-Encoding`, up to `maxSizeBytes`. Without one, returns it unchanged.
 *
 * @throws {UnpackError} 415 for an unknown encoding, 400 if the body has another one, 413 if it grows too much.
 */
export async function unpackBody(
  packedBytes: ArrayBuffer,
  contentEncoding: string | null,
  maxSizeBytes: number,
): Promise<ArrayBuffer> {
  const encoding = contentEncoding?.trim().toLowerCase() ?? "identity";
  if (encoding === "identity") return packedBytes;
  const decode = Object.hasOwn(decodeByEncoding, encoding) ? decodeByEncoding[encoding] : undefined;
  if (decode === undefined) {
    throw new UnpackError(415, "Send the body uncompressed, or with gzip or zstd.");
  }
  const sizeLimit = Math.min(maxSizeBytes, Math.max(MEBIBYTE, packedBytes.byteLength * MOST_RATIO));
  try {
    return new Uint8Array(await decode(packedBytes, { maxOutputLength: sizeLimit })).buffer;
  } catch (error) {
    throw systemErrorCode(error) === "ERR_BUFFER_TOO_LARGE"
      ? new UnpackError(413, `The body is over ${sizeLimit} bytes; send less.`)
      : new UnpackError(400, `The body is not ${encoding}, which its Content-Encoding names.`);
  }
}
