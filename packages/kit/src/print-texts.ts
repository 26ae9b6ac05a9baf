import { type EventEmitter, once } from "node:events";
import type { CliContext } from "./context.ts";
import { isBrokenPipe } from "./errors.ts";

const PIECE_LENGTH = 65_536;

/** Prints texts at the reader's pace; returns false if the reader ended, as in `| head`. */
export async function printTexts(
  texts: Iterable<string> | AsyncIterable<string>,
  { signal, stdout }: Pick<CliContext, "signal" | "stdout">,
): Promise<boolean> {
  for await (const outputPiece of joinIntoPieces(texts)) {
    signal.throwIfAborted();
    if (stdout.write(outputPiece) !== false) continue;
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

async function* joinIntoPieces(texts: Parameters<typeof printTexts>[0]): AsyncGenerator<string> {
  let outputPiece = "";
  for await (const text of texts) {
    outputPiece += text;
    if (outputPiece.length < PIECE_LENGTH) continue;
    yield outputPiece;
    outputPiece = "";
  }
  if (outputPiece !== "") yield outputPiece;
}
