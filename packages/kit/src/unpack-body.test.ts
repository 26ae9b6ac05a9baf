import { deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { unpackBody } from "./unpack-body.ts";

const toBuffer = (bytes: Uint8Array) => new Uint8Array(bytes).buffer;
const textOf = async (bytes: Uint8Array, encoding: string | null, maxSize = 1000) =>
  new TextDecoder().decode(await unpackBody(toBuffer(bytes), encoding, maxSize));
const json = Buffer.from('{"state":"hello"}');

test.each([
  [null, json],
  ["identity", json],
  [" GZIP ", gzipSync(json)],
  ["x-gzip", gzipSync(json)],
  ["deflate", deflateSync(json)],
  ["zstd", zstdCompressSync(json)],
])("a body of %j is unpacked", async (encoding, bytes) => {
  expect(await textOf(bytes, encoding)).toBe(json.toString());
});

test.each([
  ["of an unknown encoding", 415, "br", json, 1000],
  ["of a name that every object has", 415, "constructor", json, 1000],
  ["of another encoding than its header's", 400, "zstd", json, 1000],
  ["above the limit", 413, "gzip", gzipSync("a".repeat(2000)), 1000],
  ["that grows more than a hundredfold", 413, "gzip", gzipSync("a".repeat(4_000_000)), 10_000_000],
])("a body %s is refused", async (_, status, encoding, bytes, maxSize) => {
  await expect(textOf(bytes, encoding, maxSize)).rejects.toMatchObject({ status });
});
