import { randomUUID } from "node:crypto";
import { lstatSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import {
  emulatorHeader,
  type Exchange,
  readReply,
  RecordingError,
  writeExchange,
} from "evaluator-client/testing";
import {
  CliError,
  type CliContext,
  exitCodes,
  systemErrorCode,
  systemFiles,
  UsageError,
} from "evaluator-kit";
import type { ReportOptions } from "../commands/report-commands.ts";
import { contractBreaches, findDifferences } from "./compare-answer.ts";
import { chooseCalls, type LiveCall } from "./live-calls.ts";

type Answer = Exchange["response"];
type RecordOptions = ReportOptions<"record"> & { readonly names: readonly string[] };

/** Asks a live service the requests of exchanges, and records or compares its answers. */
export async function record(
  options: RecordOptions,
  context: CliContext,
  fetch = globalThis.fetch,
): Promise<void> {
  const { names, compare } = options;
  const { env, cwd, clock } = context;
  if (options.out === "") throw new UsageError("--out takes a folder.");
  if (compare !== true && env["CI"]) {
    throw new CliError("Nothing is recorded in CI: a person has to look at it.");
  }
  const exchanges = resolve(cwd, options.exchanges);
  const { calls, keys } = chooseCalls(names, { env, folder: exchanges });
  const run: LiveRun = { calls, keys, fetch, context };
  if (compare === true) return await compareAll(run);
  const folder = resolve(cwd, options.out ?? exchanges);
  const toPath = ({ exchange }: LiveCall) => join(folder, `${exchange.name}.json`);
  await checkTargets(calls.map(toPath), options.replace === true);
  const recordedCount = await askEach(run, "recorded", async (call, response) => {
    const { exchange } = call;
    const [breach] = await contractBreaches(exchange, response.body);
    if (breach !== undefined) throw new RecordingError(`${breach.path}: ${breach.detail}`);
    if (emulatorHeader in response.headers && folder === exchanges) {
      throw new RecordingError("the emulator answered, no live service; use another --out");
    }
    const recording = { ...exchange, description: describe(exchange), response };
    await writeExchange(toPath(call), recording, new Date(clock.epochNow()));
    context.stdout.write(`${exchange.name}: recorded\n`);
  });
  context.stdout.write(`Recorded ${recordedCount} of ${calls.length} in ${folder}\n`);
}

/** A description of the contract's answer is not true of a live one. */
function describe({ name, provenance, description }: Exchange): string {
  const situation = name.slice(name.lastIndexOf("/") + 1).replaceAll("-", " ");
  return provenance.source === "live" ? description : `A live answer to: ${situation}.`;
}

interface LiveRun {
  readonly calls: readonly LiveCall[];
  /** Every key in use: an answer that holds one is rejected before anything is read. */
  readonly keys: readonly string[];
  readonly fetch: typeof globalThis.fetch;
  readonly context: CliContext;
}

/** Prints how live answers differ from their exchanges; each difference once. */
async function compareAll(run: LiveRun): Promise<void> {
  const { calls, context } = run;
  const namesByLine = new Map<string, string[]>();
  const comparedCount = await askEach(run, "compared", async (call, answer) => {
    for (const line of new Set(await findDifferences(call, answer))) {
      namesByLine.set(line, [...(namesByLine.get(line) ?? []), call.exchange.name]);
    }
  });
  for (const [line, [first, ...others]] of namesByLine) {
    const more = others.length === 0 ? "" : ` and ${others.length} more`;
    context.stdout.write(`${line}\n         in ${first}${more}\n`);
  }
  const result = namesByLine.size === 0 ? "the shapes agree" : "the shapes differ";
  context.stdout.write(`Compared ${comparedCount} of ${calls.length}: ${result}\n`);
  if (namesByLine.size > 0) context.exitCode = exitCodes.failed;
}

/** Makes each call, one after the other, and returns how many answers could be used. */
async function askEach(
  run: LiveRun,
  doneText: string,
  use: (call: LiveCall, answer: Answer) => Promise<void>,
): Promise<number> {
  const { calls, context } = run;
  let failures = 0;
  for (const [at, call] of calls.entries()) {
    try {
      await use(call, await askService(call, run));
    } catch (error) {
      if (!(error instanceof RecordingError)) throw error;
      failures += 1;
      context.exitCode = exitCodes.unanswered;
      context.stderr.write(`${call.exchange.name}: not ${doneText}: ${error.reason}\n`);
      checkDisk(error, calls.length - at - 1);
    }
  }
  return calls.length - failures;
}

/** @throws CliError for a disk that would not take the next recordings either, which would be paid for */
function checkDisk({ cause }: RecordingError, left: number): void {
  const code = systemErrorCode(cause);
  // A folder in the place of one file is in the way of that one alone.
  if (code === null || code === "EISDIR" || left === 0) return;
  throw new CliError(
    `Stopped: ${left} more calls were not made, since nothing can be written (${code}); make room, and record the rest by their names.`,
  );
}

/** Checks, before any paid call, that recordings can be written and replace only recordings. */
async function checkTargets(paths: readonly string[], mayReplace: boolean): Promise<void> {
  const replaceable = await Promise.all(paths.map(isReplaceable));
  const others = replaceable.filter((is) => !is).length;
  if (others > 0 && !mayReplace) {
    const problem = `${others} of ${paths.length} files are no recordings`;
    throw new CliError(`${problem}; replace them with --replace, or use another --out.`);
  }
  for (const folder of new Set(paths.map((path) => dirname(path)))) {
    try {
      // A permission is not enough on a read-only or full disk, so a file is really written.
      systemFiles.probe(join(nearestFolder(folder), `.record-${randomUUID()}`));
    } catch {
      throw new CliError(`Nothing can be written in ${folder}.`);
    }
  }
}

/** Returns the folder, or the nearest one above it that is there: a failed recording leaves none behind. */
function nearestFolder(path: string): string {
  // A link that leads nowhere is there: no folder can be made in its place.
  const isThere = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  return isThere ? path : nearestFolder(dirname(path));
}

async function isReplaceable(path: string): Promise<boolean> {
  try {
    const { provenance } = JSON.parse(await readFile(path, "utf8")) as Partial<Exchange>;
    return provenance?.source === "live";
  } catch (error) {
    return systemErrorCode(error) === "ENOENT";
  }
}

/** Time for one request with its body. */
const timeoutMs = 30_000;

/** Sends a call once, without following a redirect. @throws RecordingError if the answer cannot be used */
async function askService({ exchange, url, apiKey }: LiveCall, run: LiveRun): Promise<Answer> {
  const { method, headers, body } = exchange.request;
  const { signal, clock } = run.context;
  const limit = new AbortController();
  const stop = clock.schedule(timeoutMs, () => limit.abort());
  try {
    const reply = await run.fetch(url, {
      method,
      headers: { ...headers, authorization: `Bearer ${apiKey}` },
      body: body === undefined ? null : JSON.stringify(body),
      redirect: "manual",
      signal: AbortSignal.any([signal, limit.signal]),
    });
    return toAnswer(await readReply(reply, run.keys, exchange), exchange);
  } catch (error) {
    if (error instanceof RecordingError) throw error;
    signal.throwIfAborted();
    const code = systemErrorCode(error instanceof Error ? error.cause : null);
    const codeText = code === null ? "" : ` (${code})`;
    const why = limit.signal.aborted ? ` within ${timeoutMs} ms` : codeText;
    // Without the cause: what fetch throws may hold the request.
    throw new RecordingError(`no whole answer came${why}`);
  } finally {
    stop();
  }
}

function toAnswer(read: Awaited<ReturnType<typeof readReply>>, { response }: Exchange): Answer {
  const { status, headers, body } = read;
  if (status !== response.status) {
    throw new RecordingError(`it answered ${status}, not ${response.status}`);
  }
  if (body === undefined) throw new RecordingError("its body is not JSON");
  return { status, headers, body };
}
