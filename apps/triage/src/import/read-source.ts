import { CliError, describeSystemError } from "evaluator-kit";
import { peek } from "evaluator-runs/source";
import { gunzip, tarFiles, zipFiles } from "./archives.ts";
import { type FoundMail, ImportProblem, type NotRead } from "./found-mail.ts";
import { type FileContent, readMailFile } from "./mail-files.ts";
import { findFiles, type SourceFile } from "./source-files.ts";

const PEEK_BYTES = 64 * 1024;
/** Archives in archives are seldom mail, and may be made to never end. */
const MOST_DEPTH = 3;

/**
 * Finds the mails of a source: a folder, an archive or a file. What a file is, is seen from its
 * start, and not from its name. What cannot be read is told, and the rest read on.
 *
 * @throws an error of the file system when the source itself cannot be read; the signal's reason.
 */
export async function* readSource(
  path: string,
  signal: AbortSignal,
): AsyncGenerator<FoundMail | NotRead> {
  for await (const file of findFiles(path, signal)) {
    if ("reason" in file) yield file;
    else yield* readFile(file, { signal, depth: 0 });
  }
}

interface ReadOptions {
  readonly signal: AbortSignal;
  /** How many archives it is in. */
  readonly depth: number;
}

async function* readFile(
  file: SourceFile,
  options: ReadOptions,
): AsyncGenerator<FoundMail | NotRead> {
  let last: string | null = null;
  try {
    await using content = await openContent(file, options);
    for await (const found of readContent(file, content)) {
      last = found.name;
      yield found;
    }
  } catch (error) {
    options.signal.throwIfAborted();
    if (last === null) yield { name: file.name, reason: reasonOf(error), isMail: true };
    else yield { name: `after ${last}`, reason: breakReason(error), isMail: true };
  }
}

interface Content extends ReadOptions, FileContent, AsyncDisposable {}

async function openContent(file: SourceFile, options: ReadOptions): Promise<Content> {
  const { start, all, close } = await peek(file.chunks, PEEK_BYTES);
  return { ...options, start, all, [Symbol.asyncDispose]: close };
}

async function* readContent(
  file: SourceFile,
  content: Content,
): AsyncGenerator<FoundMail | NotRead> {
  const { start, all } = content;
  const bytes = start.toString("latin1");
  const isGzip = bytes.startsWith("\x1f\x8b");
  const isZip = bytes.startsWith("PK\x03\x04") || bytes.startsWith("PK\x05\x06");
  const isTar = bytes.startsWith("ustar", 257);
  const { signal, depth } = content;
  const inner = { signal, depth: depth + 1 };
  if (!isGzip && !isZip && !isTar) yield* readMailFile(file, content);
  else if (isZip) yield* readZip(file, inner);
  else if (depth === MOST_DEPTH) yield tooDeep(file);
  else if (isTar) yield* readEntries(tarFiles(file, all), inner);
  else yield* readFile({ ...file, path: null, chunks: gunzip(all) }, inner);
}

async function* readZip(file: SourceFile, inner: ReadOptions): AsyncGenerator<FoundMail | NotRead> {
  if (/\.olm$/i.test(file.name)) {
    const reason = "it is an archive of Outlook for Mac; export its folders as mbox or .eml";
    yield { name: file.name, reason, isMail: true };
  } else if (file.path === null) yield tooDeep(file);
  else yield* readEntries(zipFiles(file, file.path), inner);
}

function tooDeep({ name }: SourceFile): NotRead {
  const reason = "it is an archive in an archive; unpack the outer one and import the folder";
  return { name, reason, isMail: true };
}

async function* readEntries(
  entries: AsyncIterable<SourceFile | NotRead>,
  inner: ReadOptions,
): AsyncGenerator<FoundMail | NotRead> {
  for await (const entry of entries) {
    if ("reason" in entry) yield entry;
    else yield* readFile(entry, inner);
  }
}

// What a library says may quote the mail.
function reasonOf(error: unknown): string {
  if (error instanceof ImportProblem || error instanceof CliError) return error.message;
  return systemReason(error) ?? "it is broken, or breaks off";
}

function breakReason(error: unknown): string {
  if (error instanceof ImportProblem) return error.message;
  return `${systemReason(error) ?? "it breaks off"}; what follows is lost`;
}

function systemReason(error: unknown): string | null {
  // Errors of zlib look like those of the system, and are not.
  if (!(error instanceof Error) || !("syscall" in error)) return null;
  return `it cannot be read: ${describeSystemError(error)}`;
}
