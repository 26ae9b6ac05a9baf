import { randomUUID } from "node:crypto";
import { createReadStream, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { addAbortSignal, Readable } from "node:stream";
import { type CliContext, toFileError } from "evaluator-kit";

/** Keeps standard input until the process ends, and returns a function that reads it. */
export async function keepStdin(
  stdin: CliContext["stdin"],
  signal: AbortSignal = new AbortController().signal,
): Promise<() => AsyncIterable<Buffer>> {
  const piped = stdin instanceof Readable ? stdin : Readable.from(stdin);
  const path = join(tmpdir(), `.evaluator-${randomUUID()}.tmp`);
  const descriptor = openSync(path, "wx+", 0o600);
  // An open file without a name is removed even after a kill; Windows cannot do that.
  if (process.platform !== "win32") rmSync(path);
  try {
    for await (const piece of addAbortSignal(signal, piped)) writeFileSync(descriptor, piece);
  } catch (error) {
    signal.throwIfAborted();
    throw toFileError(error, `write into ${tmpdir()}`, "Make room there, or set TMPDIR.");
  }
  return () => createReadStream("", { fd: descriptor, start: 0, autoClose: false });
}
