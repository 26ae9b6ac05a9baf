import { mkdir, mkdtemp, readFile, rmdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import {
  emulatorHeader,
  type Exchange,
  findLeak,
  findSecretIn,
  keepHeaders,
  type LiveReply,
  modelOf,
  pathText,
  scrubResponse,
} from "evaluator-client/testing";
import {
  CliError,
  type CliContext,
  describeSystemError,
  exitCodes,
  systemErrorCode,
  UsageError,
  writeWholeFile,
} from "evaluator-kit";
import type { ReportOptions } from "../commands/report-commands.ts";
import { compareShapes, findDifferences } from "./compare-answers.ts";
import { contractBreaches } from "./contract-breaches.ts";
import { chooseCalls, type LiveCall } from "./live-calls.ts";

type Reply = Exchange["response"];
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
  const pathOf = ({ exchange }: LiveCall) => join(folder, `${exchange.name}.json`);
  await checkTargets(calls.map(pathOf), options.replace === true);
  const recorded = await askEach(run, "recorded", async (call, answer) => {
    const { exchange } = call;
    const response = scrubResponse(answer);
    await checkRecordable(exchange, response, folder !== exchanges);
    await writeRecording(pathOf(call), toRecording(exchange, response, new Date(clock.epochNow())));
    const { length } = compareShapes([exchange.response.body], response.body, []);
    const shape = length === 0 ? "same shape as before" : `shape differs in ${length} places`;
    context.stdout.write(`${exchange.name}: recorded, ${shape}\n`);
  });
  context.stdout.write(`Recorded ${recorded} of ${calls.length} in ${folder}\n`);
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
  const compared = await askEach(run, "compared", async (call, answer) => {
    for (const line of new Set(await findDifferences(call, answer))) {
      namesByLine.set(line, [...(namesByLine.get(line) ?? []), call.exchange.name]);
    }
  });
  for (const [line, [first, ...others]] of namesByLine) {
    const more = others.length === 0 ? "" : ` and ${others.length} more`;
    context.stdout.write(`${line}\n         in ${first}${more}\n`);
  }
  const result = namesByLine.size === 0 ? "the shapes agree" : "the shapes differ";
  context.stdout.write(`Compared ${compared} of ${calls.length}: ${result}\n`);
  if (namesByLine.size > 0) context.exitCode = exitCodes.failed;
}

/** Makes each call, one after the other, and returns how many answers could be used. */
async function askEach(
  run: LiveRun,
  done: string,
  use: (call: LiveCall, answer: Reply) => Promise<void>,
): Promise<number> {
  const { calls, context } = run;
  let failures = 0;
  for (const call of calls) {
    try {
      await use(call, await readAnswer(call, run));
    } catch (error) {
      if (!(error instanceof UnusableAnswerError)) throw error;
      failures += 1;
      context.exitCode = exitCodes.unanswered;
      context.stderr.write(`${call.exchange.name}: not ${done}: ${error.message}\n`);
    }
  }
  return calls.length - failures;
}

async function writeRecording(path: string, recording: Omit<Exchange, "name">): Promise<void> {
  await writeWholeFile(path, `${JSON.stringify(recording, null, 2)}\n`).catch((error: unknown) => {
    const reason = describeSystemError(error);
    if (reason === null) throw error;
    throw new UnusableAnswerError(`it cannot be written: ${reason}`);
  });
}

function toRecording(exchange: Exchange, response: Reply, today: Date): Omit<Exchange, "name"> {
  const { name, provenance, description, request } = exchange;
  const situation = name.slice(name.lastIndexOf("/") + 1).replaceAll("-", " ");
  return {
    // A description of the contract's answer is not true of this one.
    description: provenance.source === "live" ? description : `A live answer to: ${situation}.`,
    provenance: {
      source: "live",
      recordedAt: today.toISOString().slice(0, "YYYY-MM-DD".length),
      model: modelOf(request, response),
    },
    request,
    response,
  };
}

/** @throws UnusableAnswerError for an answer that is private, the emulator's, or breaks the contract. */
async function checkRecordable(exchange: Exchange, response: Reply, acceptsEmulator: boolean) {
  const secret = findSecretIn(response, "response");
  if (secret !== null) throw new UnusableAnswerError(`it holds ${secret}`);
  const [breach] = await contractBreaches(exchange, response.body);
  if (breach !== undefined) {
    throw new UnusableAnswerError(`${pathText(breach.path)}: ${breach.problem}`);
  }
  if (emulatorHeader in response.headers && !acceptsEmulator) {
    throw new UnusableAnswerError(
      "the emulator answered, which is no live service; --out DIR keeps its answers elsewhere",
    );
  }
}

/** Checks, before any paid call, that recordings can be written and replace only recordings. */
async function checkTargets(paths: readonly string[], mayReplace: boolean): Promise<void> {
  const replaceable = await Promise.all(paths.map(isReplaceable));
  const others = replaceable.filter((is) => !is).length;
  if (others > 0 && !mayReplace) {
    throw new CliError(
      `Files that are not recordings would be replaced (${others} of ${paths.length}): --replace does it, --out DIR writes elsewhere.`,
    );
  }
  for (const folder of new Set(paths.map((path) => dirname(path)))) {
    try {
      await mkdir(folder, { recursive: true });
      // A permission is not enough on a read-only or full disk, so a folder is really made.
      await rmdir(await mkdtemp(join(folder, ".record-")));
    } catch {
      throw new CliError(`Nothing can be written in ${folder}.`);
    }
  }
}

async function isReplaceable(path: string): Promise<boolean> {
  try {
    const { provenance } = JSON.parse(await readFile(path, "utf8")) as Partial<Exchange>;
    return provenance?.source === "live";
  } catch (error) {
    return systemErrorCode(error) === "ENOENT";
  }
}

/** An answer that cannot be used; its message repeats nothing of the answer. */
class UnusableAnswerError extends Error {
  override readonly name = "UnusableAnswerError";
}

/** Sends a call, and returns its answer in the form of an exchange's response. @throws UnusableAnswerError */
async function readAnswer(call: LiveCall, run: LiveRun): Promise<Reply> {
  const { exchange } = call;
  const reply = await sendCall(call, run);
  const publicText = `${JSON.stringify(exchange)} ${emulatorHeader}`;
  const leak = findLeak(reply, { keys: run.keys, publicText });
  if (leak !== null) throw new UnusableAnswerError(leak);
  const expected = exchange.response.status;
  if (reply.status !== expected) {
    throw new UnusableAnswerError(`it answered ${reply.status}, not ${expected}`);
  }
  try {
    const body = JSON.parse(reply.text) as Reply["body"];
    return { status: reply.status, headers: keepHeaders(reply.headers), body };
  } catch {
    throw new UnusableAnswerError("its body is not JSON");
  }
}

/** Time for one request with its body. */
const timeoutMs = 30_000;

// Once, and without following a redirect.
async function sendCall(
  { exchange: { request }, url, apiKey }: LiveCall,
  { fetch, context: { signal, clock } }: LiveRun,
): Promise<LiveReply> {
  const limit = new AbortController();
  const stop = clock.schedule(timeoutMs, () => limit.abort());
  try {
    const response = await fetch(url, {
      method: request.method,
      headers: { ...request.headers, authorization: `Bearer ${apiKey}` },
      body: request.body === undefined ? null : JSON.stringify(request.body),
      redirect: "manual",
      signal: AbortSignal.any([signal, limit.signal]),
    });
    const { status, headers } = response;
    return { status, headers, text: await response.text() };
  } catch (error) {
    signal.throwIfAborted();
    const code = systemErrorCode(error instanceof Error ? error.cause : null);
    const known = code === null ? "" : ` (${code})`;
    const why = limit.signal.aborted ? ` within ${timeoutMs} ms` : known;
    // Without the cause: what fetch throws may hold the request.
    throw new UnusableAnswerError(`no whole answer came${why}`);
  } finally {
    stop();
  }
}
