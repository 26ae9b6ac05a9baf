import { CliError } from "evaluator-kit";

/** The problem of text in another encoding, and the next step. */
export const NOT_UTF8 = "is not UTF-8 text; save the file as UTF-8";

/** Reads bytes of a stream ahead; its error is thrown after the bytes before it. */
export async function peek(chunks: AsyncIterable<Buffer>, size: number) {
  const iterator = chunks[Symbol.asyncIterator]();
  const takenChunks: Buffer[] = [];
  let last: Promise<IteratorResult<Buffer, unknown>> | null = null;
  for (let length = 0; length < size;) {
    const next = iterator.next();
    const result = await next.catch(() => null);
    if (result === null || result.done === true) {
      last = next;
      break;
    }
    takenChunks.push(result.value);
    length += result.value.length;
  }
  if (takenChunks.length === 0) await last;
  const start = Buffer.concat(takenChunks);
  const all = async function* all(): AsyncGenerator<Buffer> {
    yield start;
    let next = await (last ?? iterator.next());
    for (; next.done !== true; next = await iterator.next()) yield next.value;
  };
  const close = async () => void (await iterator.return?.());
  return { start, all: all(), close };
}

/**
 * Returns text of UTF-8 or UTF-16 as UTF-8 without byte order mark, chunk by chunk. UTF-16 without
 * a mark is detected by the zero byte beside the first character of JSON (RFC 4627).
 *
 * @throws CliError if UTF-16 ends in the middle of a character.
 */
export async function* toUtf8Chunks(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const { start, all, close } = await peek(chunks, 3);
  try {
    const [first, second, third] = start;
    if ((first === 0xff && second === 0xfe) || second === 0) yield* decoded(all, "utf-16le");
    else if ((first === 0xfe && second === 0xff) || first === 0) yield* decoded(all, "utf-16be");
    else {
      let markLength = first === 0xef && second === 0xbb && third === 0xbf ? 3 : 0;
      for await (const chunk of all) {
        yield chunk.subarray(markLength);
        markLength = 0;
      }
    }
  } finally {
    await close();
  }
}

async function* decoded(chunks: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  const decode = (chunk?: Buffer) => {
    try {
      return Buffer.from(decoder.decode(chunk, { stream: chunk !== undefined }));
    } catch {
      throw new CliError("it is not whole UTF-16 text; save the file as UTF-8");
    }
  };
  for await (const chunk of chunks) yield decode(chunk);
  yield decode();
}
