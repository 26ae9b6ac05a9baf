import { CliError, describeSystemError } from "evaluator-kit";
import { peek } from "evaluator-runs/source";
import { gunzip, tarFiles, zipFiles } from "./archives.ts";
import { type FoundMail, ImportProblem, type NotRead } from "./found-mail.ts";
import { readMailFile } from "./mail-files.ts";
import { findFiles, type SourceFile } from "./source-files.ts";

const PEEK_BYTES = 64 * 1024;
/** Archives in archives are seldom mail, and may be made to never end. */
const MOST_DEPTH = 3;

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
    for await (const found of readContent(file, content, { signal, depth })) {
      last = found.name;
      yield found;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (last === null) yield { name: file.name, reason: reasonOf(error), isMail: true };
    else yield { name: `after ${last}`, reason: breakReason(error), isMail: true };
  }
}

async function* readContent(
  file: SourceFile,
  content: Parameters<typeof readMailFile>[1],
  { signal, depth }: { readonly signal: AbortSignal; readonly depth: number },
): Found {
  const { start, all } = content;
  const bytes = start.toString("latin1");
  const isGzip = bytes.startsWith("\x1f\x8b");
  const isZip = bytes.startsWith("PK\x03\x04") || bytes.startsWith("PK\x05\x06");
  const isTar = bytes.startsWith("ustar", 257);
  if (!isGzip && !isZip && !isTar) yield* readMailFile(file, content);
  else if (isZip) yield* readZip(file, signal, depth + 1);
  else if (depth === MOST_DEPTH) yield tooDeep(file);
  else if (isTar) yield* readEntries(tarFiles(file, all), signal, depth + 1);
  else yield* readFile({ ...file, path: null, chunks: gunzip(all) }, signal, depth + 1);
}

async function* readZip(file: SourceFile, signal: AbortSignal, depth: number): Found {
  if (/\.olm$/i.test(file.name)) {
    const reason = "it is an archive of Outlook for Mac; export its folders as mbox or .eml";
    yield { name: file.name, reason, isMail: true };
  } else if (file.path === null) yield tooDeep(file);
  else yield* readEntries(zipFiles(file, file.path), signal, depth);
}

function tooDeep({ name }: SourceFile): NotRead {
  const reason = "it is an archive in an archive; unpack the outer one and import the folder";
  return { name, reason, isMail: true };
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
