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
import { findContractBreaches, findDifferences } from "./compare-answer.ts";
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
    throw new CliError("Nothing is recorded in CI: a person must look at it.");
  }
  const exchangesFolder = resolve(cwd, options.exchanges);
  const { calls, keys } = chooseCalls(names, { env, folder: exchangesFolder });
  const liveRun: LiveRun = { calls, keys, fetch, context };
  if (compare === true) return await compareAnswers(liveRun);
  const outFolder = resolve(cwd, options.out ?? exchangesFolder);
  const toRecordingPath = ({ exchange }: LiveCall) => join(outFolder, `${exchange.name}.json`);
  await checkTargets(calls.map(toRecordingPath), options.replace === true);
  const recordedCount = await askEachCall(liveRun, "recorded", async (call, response) => {
    const { exchange } = call;
    const [breach] = await findContractBreaches(exchange, response.body);
    if (breach !== undefined) throw new RecordingError(`${breach.path}: ${breach.detail}`);
    if (emulatorHeader in response.headers && outFolder === exchangesFolder) {
      throw new RecordingError("the emulator answered; use another --out");
    }
    const recording = { ...exchange, description: describeExchange(exchange), response };
    await writeExchange(toRecordingPath(call), recording, new Date(clock.epochNow()));
    context.stdout.write(`${exchange.name}: recorded\n`);
  });
  context.stdout.write(`Recorded ${recordedCount} of ${calls.length} in ${outFolder}\n`);
}

/** A description of the contract's answer is not true of a live one. */
function describeExchange({ name, provenance, description }: Exchange): string {
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
async function compareAnswers(liveRun: LiveRun): Promise<void> {
  const { calls, context } = liveRun;
  const namesByLine = new Map<string, string[]>();
  const comparedCount = await askEachCall(liveRun, "compared", async (call, answer) => {
    for (const difference of new Set(await findDifferences(call, answer))) {
      namesByLine.set(difference, [...(namesByLine.get(difference) ?? []), call.exchange.name]);
    }
  });
  for (const [difference, [firstName, ...otherNames]] of namesByLine) {
    const moreText = otherNames.length === 0 ? "" : ` and ${otherNames.length} more`;
    context.stdout.write(`${difference}\n         in ${firstName}${moreText}\n`);
  }
  const resultText = namesByLine.size === 0 ? "the shapes agree" : "the shapes differ";
  context.stdout.write(`Compared ${comparedCount} of ${calls.length}: ${resultText}\n`);
  if (namesByLine.size > 0) context.exitCode = exitCodes.failed;
}

/** Makes each call, one after the other, and returns how many answers could be used. */
async function askEachCall(
  liveRun: LiveRun,
  doneText: string,
  useAnswer: (call: LiveCall, answer: Answer) => Promise<void>,
): Promise<number> {
  const { calls, context } = liveRun;
  let failureCount = 0;
  for (const [at, call] of calls.entries()) {
    try {
      await useAnswer(call, await askService(call, liveRun));
    } catch (error) {
      if (!(error instanceof RecordingError)) throw error;
      failureCount += 1;
      context.exitCode = exitCodes.unanswered;
      context.stderr.write(`${call.exchange.name}: not ${doneText}: ${error.reason}\n`);
      checkDisk(error, calls.length - at - 1);
    }
  }
  return calls.length - failureCount;
}

/** @throws CliError for a disk that would not take the next recordings either, which would be paid for */
function checkDisk({ cause }: RecordingError, left: number): void {
  const code = systemErrorCode(cause);
  // A folder in the place of one file is in the way of that one alone.
  if (code === null || code === "EISDIR" || left === 0) return;
  throw new CliError(
    `Stopped: ${left} calls not made, as nothing can be written (${code}); make room and record the rest by name.`,
  );
}

/** Checks, before any paid call, that recordings can be written and replace only recordings. */
async function checkTargets(paths: readonly string[], mayReplace: boolean): Promise<void> {
  const replaceableFlags = await Promise.all(paths.map(isReplaceable));
  const otherCount = replaceableFlags.filter((isRecording) => !isRecording).length;
  if (otherCount > 0 && !mayReplace) {
    const problem = `${otherCount} of ${paths.length} files are no recordings`;
    throw new CliError(`${problem}; use --replace or another --out.`);
  }
  for (const folder of new Set(paths.map((path) => dirname(path)))) {
    try {
      // A permission is not enough on a read-only or full disk, so a file is really written.
      systemFiles.probe(join(findNearestFolder(folder), `.record-${randomUUID()}`));
    } catch {
      throw new CliError(`Nothing can be written in ${folder}.`);
    }
  }
}

/** Returns the folder, or the nearest one above it that is there: a failed recording leaves none behind. */
function findNearestFolder(path: string): string {
  // A link that leads nowhere is there: no folder can be made in its place.
  const isThere = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  return isThere ? path : findNearestFolder(dirname(path));
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
const requestTimeoutMs = 30_000;

/** Sends a call once, without following a redirect. @throws RecordingError if the answer cannot be used */
async function askService({ exchange, url, apiKey }: LiveCall, liveRun: LiveRun): Promise<Answer> {
  const { method, headers, body } = exchange.request;
  const { signal, clock } = liveRun.context;
  const timeoutController = new AbortController();
  const cancelTimeout = clock.schedule(requestTimeoutMs, () => timeoutController.abort());
  try {
    const reply = await liveRun.fetch(url, {
      method,
      headers: { ...headers, authorization: `Bearer ${apiKey}` },
      body: body === undefined ? null : JSON.stringify(body),
      redirect: "manual",
      signal: AbortSignal.any([signal, timeoutController.signal]),
    });
    return toAnswer(await readReply(reply, liveRun.keys, exchange), exchange);
  } catch (error) {
    if (error instanceof RecordingError) throw error;
    signal.throwIfAborted();
    const errorCode = systemErrorCode(error instanceof Error ? error.cause : null);
    const codeText = errorCode === null ? "" : ` (${errorCode})`;
    const failureReason = timeoutController.signal.aborted
      ? ` within ${requestTimeoutMs} ms`
      : codeText;
    // Without the cause: what fetch throws may hold the request.
    throw new RecordingError(`no whole answer came${failureReason}`);
  } finally {
    cancelTimeout();
  }
}

function toAnswer(
  replyContent: Awaited<ReturnType<typeof readReply>>,
  { response }: Exchange,
): Answer {
  const { status, headers, body } = replyContent;
  if (status !== response.status) {
    throw new RecordingError(`it answered ${status}, not ${response.status}`);
  }
  if (body === undefined) throw new RecordingError("its body is not JSON");
  return { status, headers, body };
}
