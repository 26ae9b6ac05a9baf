import { type EventEmitter, once } from "node:events";
import type { CliContext } from "./context.ts";
import { isBrokenPipe } from "./errors.ts";

const PIECE_LENGTH = 65_536;

/** Prints texts at the reader's pace; returns false if the reader ended, as in `| head`. */
export async function printTexts(
  texts: Iterable<string> | AsyncIterable<string>,
  { signal, stdout }: Pick<CliContext, "signal" | "stdout">,
): Promise<boolean> {
  for await (const piece of inPieces(texts)) {
    signal.throwIfAborted();
    if (stdout.write(piece) !== false) continue;
    try {
      // process.stdout reports a broken pipe by an event only.
      await once(stdout as unknown as EventEmitter, "drain", { signal });
    } catch (error) {
      if (isBrokenPipe(error)) return false;
      throw error;
    }
  }
  return true;
}

async function* inPieces(texts: Parameters<typeof printTexts>[0]): AsyncGenerator<string> {
  let piece = "";
  for await (const text of texts) {
    piece += text;
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = "";
  }
  if (piece !== "") yield piece;
}
