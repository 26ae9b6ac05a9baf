import { CliError, describeSystemError } from "evaluator-kit";
import { peek } from "evaluator-runs/source";
import { filesInArchive } from "./archives.ts";
import { type FoundMail, ImportProblem, type NotRead } from "./found-mail.ts";
import { readMailFile } from "./mail-files.ts";
import { findFiles, type SourceFile } from "./source-files.ts";

const PEEK_BYTES = 64 * 1024;

type Found = AsyncGenerator<FoundMail | NotRead>;

/**
 * Finds the mails of a folder, an archive or a file; the first bytes of a file decide its format.
 * Unreadable parts are reported, and the next part is read.
 */
export function readSource(path: string, signal: AbortSignal): Found {
  return readEntries(findFiles(path, signal), signal, 0);
}

/** @param depth - The number of archives that the entries are in. */
async function* readEntries(
  entries: AsyncIterable<SourceFile | NotRead>,
  signal: AbortSignal,
  depth: number,
): Found {
  for await (const entry of entries) {
    if ("reason" in entry) yield entry;
    else yield* readFile(entry, signal, depth);
  }
}

async function* readFile(file: SourceFile, signal: AbortSignal, depth: number): Found {
  let last: string | null = null;
  try {
    const { close, ...content } = await peek(file.chunks, PEEK_BYTES);
    await using _ = { [Symbol.asyncDispose]: close };
    const entries = filesInArchive(file, content, depth);
    const all = entries && readEntries(entries, signal, depth + 1);
    for await (const found of all ?? readMailFile(file, content)) {
      last = found.name;
      yield found;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (last === null) yield { name: file.name, reason: reasonOf(error), isMail: true };
    else yield { name: `after ${last}`, reason: breakReason(error), isMail: true };
  }
}

// A library's message may quote the mail.
function reasonOf(error: unknown): string {
  if (error instanceof ImportProblem || error instanceof CliError) return error.message;
  return systemReason(error) ?? "it is broken, or breaks off";
}

function breakReason(error: unknown): string {
  if (error instanceof ImportProblem) return error.message;
  return `${systemReason(error) ?? "it breaks off"}; the rest is lost`;
}

function systemReason(error: unknown): string | null {
  // Errors of zlib have a code too, but no system call.
  if (!(error instanceof Error) || !("syscall" in error)) return null;
  return `it cannot be read: ${describeSystemError(error)}`;
}
