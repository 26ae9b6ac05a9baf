import { CliError } from "evaluator-kit";

/**
 * Returns text of UTF-8 or UTF-16 as UTF-8 without byte order mark, chunk by chunk. UTF-16 without
 * a mark is known by the zero byte beside its first character, which JSON always has (RFC 4627).
 *
 * @throws CliError when UTF-16 breaks off in the middle of a character.
 */
export async function* toUtf8Chunks(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let decode: ((chunk: Buffer | null) => Buffer) | null = null;
  let head: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (decode !== null) yield decode(chunk);
    else {
      head = Buffer.concat([head, chunk]);
      if (head.length < 3) continue;
      decode = decoderOf(head);
      yield decode(head.subarray(markLength(head)));
    }
  }
  if (decode === null) yield head;
  else yield decode(null);
}

function decoderOf(head: Buffer): (chunk: Buffer | null) => Buffer {
  const [first, second] = head;
  if ((first === 0xff && second === 0xfe) || second === 0) return utf16Decoder("utf-16le");
  if ((first === 0xfe && second === 0xff) || first === 0) return utf16Decoder("utf-16be");
  return (chunk) => chunk ?? Buffer.alloc(0);
}

function utf16Decoder(encoding: string): (chunk: Buffer | null) => Buffer {
  const decoder = new TextDecoder(encoding, { fatal: true });
  return (chunk) => {
    try {
      return Buffer.from(
        chunk === null ? decoder.decode() : decoder.decode(chunk, { stream: true }),
      );
    } catch {
      throw new CliError("it is not whole UTF-16 text; save it again, best in UTF-8");
    }
  };
}

// The decoder of UTF-16 takes its own mark away.
function markLength(head: Buffer): number {
  return head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? 3 : 0;
}
