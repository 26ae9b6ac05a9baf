import { setTimeout as nextTurn } from "node:timers/promises";
import type { CliContext } from "evaluator-cli-kit";

const PIECE_LENGTH = 65_536;

/** Prints texts one after the other, many at once; a slow reader of a pipe gets no more than it takes. */
export async function printTexts(
  texts: AsyncIterable<string>,
  context: Pick<CliContext, "signal" | "stdout">,
): Promise<void> {
  for await (const piece of inPieces(texts)) {
    context.signal.throwIfAborted();
    if (context.stdout.write(piece) === false) await drained(context);
  }
}

async function* inPieces(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let piece = "";
  for await (const text of texts) {
    piece += text;
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = "";
  }
  if (piece !== "") yield piece;
}

async function drained({ stdout }: Pick<CliContext, "stdout">): Promise<void> {
  const stream = stdout as Partial<NodeJS.WriteStream>;
  while (stream.writableNeedDrain === true && stream.destroyed !== true) await nextTurn(1);
}
