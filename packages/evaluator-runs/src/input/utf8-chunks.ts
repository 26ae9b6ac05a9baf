import { CliError } from "evaluator-kit";

/** The problem of text in another encoding, and the next step. */
export const NOT_UTF8 = "is not UTF-8 text; save the file as UTF-8";

/** Reads bytes of a stream ahead; its error is thrown after the bytes before it. */
export async function peek(sourceChunks: AsyncIterable<Buffer>, peekSize: number) {
  const chunkIterator = sourceChunks[Symbol.asyncIterator]();
  const takenChunks: Buffer[] = [];
  let lastResult: Promise<IteratorResult<Buffer, unknown>> | null = null;
  for (let takenLength = 0; takenLength < peekSize;) {
    const nextResult = chunkIterator.next();
    const chunkResult = await nextResult.catch(() => null);
    if (chunkResult === null || chunkResult.done === true) {
      lastResult = nextResult;
      break;
    }
    takenChunks.push(chunkResult.value);
    takenLength += chunkResult.value.length;
  }
  if (takenChunks.length === 0) await lastResult;
  const start = Buffer.concat(takenChunks);
  const all = async function* all(): AsyncGenerator<Buffer> {
    yield start;
    let next = await (lastResult ?? chunkIterator.next());
    for (; next.done !== true; next = await chunkIterator.next()) yield next.value;
  };
  const close = async () => void (await chunkIterator.return?.());
  return { start, all: all(), close };
}

/**
 * Returns text of UTF-8 or UTF-16 as UTF-8 without byte order mark, chunk by chunk. UTF-16 without
 * a mark is detected by the zero byte beside the first character of JSON (RFC 4627).
 *
 * @throws CliError if UTF-16 ends in the middle of a character.
 */
export async function* toUtf8Chunks(sourceChunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const { start, all, close } = await peek(sourceChunks, 3);
  try {
    const [first, second, thirdByte] = start;
    if ((first === 0xff && second === 0xfe) || second === 0) yield* decoded(all, "utf-16le");
    else if ((first === 0xfe && second === 0xff) || first === 0) yield* decoded(all, "utf-16be");
    else {
      let markLength = first === 0xef && second === 0xbb && thirdByte === 0xbf ? 3 : 0;
      for await (const sourceChunk of all) {
        yield sourceChunk.subarray(markLength);
        markLength = 0;
      }
    }
  } finally {
    await close();
  }
}

async function* decoded(chunks: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<Buffer> {
  const utf16Decoder = new TextDecoder(encoding, { fatal: true });
  const decodeChunk = (utf16Chunk?: Buffer) => {
    try {
      return Buffer.from(utf16Decoder.decode(utf16Chunk, { stream: utf16Chunk !== undefined }));
    } catch {
      throw new CliError("it is not whole UTF-16 text; save the file as UTF-8");
    }
  };
  for await (const utf16Chunk of chunks) yield decodeChunk(utf16Chunk);
  yield decodeChunk();
}
