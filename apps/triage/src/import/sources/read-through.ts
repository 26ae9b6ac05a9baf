import { type Duplex, pipeline, type Readable } from "node:stream";

/** Gives what comes out of the last of several streams; an error of any is thrown here alone. */
export async function* readThrough<TChunk>(
  first: Readable,
  ...others: readonly Duplex[]
): AsyncGenerator<TChunk> {
  const streams = [first, ...others];
  // An error that a stream has after its reader has gone would end the process.
  for (const stream of streams) stream.on("error", ignore);
  const [last = first] = others.slice(-1);
  if (others.length > 0) pipeline(streams, ignore);
  yield* last as AsyncIterable<TChunk>;
}

function ignore(): void {}
