const PIECE_LENGTH = 65_536;

/** Text in pieces, in order. */
export type TextPieces = Iterable<string> | AsyncIterable<string>;

/** Joins small pieces of text into larger ones, each worth a write of its own. */
export async function* joinPieces(pieces: TextPieces): AsyncGenerator<string> {
  let joined = "";
  for await (const piece of pieces) {
    joined += piece;
    if (joined.length < PIECE_LENGTH) continue;
    yield joined;
    joined = "";
  }
  if (joined !== "") yield joined;
}
