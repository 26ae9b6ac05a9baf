import { mkdir, mkdtemp, readFile, rmdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import {
  emulatorHeader,
  type Exchange,
  findSecretIn,
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
import type { reportCommands } from "../commands/report-commands.ts";
import type { OptionsOf } from "../commands/shared-options.ts";
import { contractBreaches } from "./contract-breaches.ts";
import {
  chooseCalls,
  type LiveCall,
  readAnswer,
  readLiveServices,
  UnusableAnswerError,
} from "./live-calls.ts";
import { compareShapes, openComparison } from "./compare-answers.ts";

type Sending = Parameters<typeof readAnswer>[1];

type RecordOptions = OptionsOf<typeof reportCommands.record> & {
  readonly names: readonly string[];
};

/** Asks a live service the requests of exchanges, and records or compares its answers. */
export async function record(
  options: RecordOptions,
  context: CliContext,
  {
    fetch = globalThis.fetch,
    timeoutMs = 30_000,
  }: Partial<Pick<Sending, "fetch" | "timeoutMs">> = {},
): Promise<void> {
  const { names, compare } = options;
  const { env, cwd } = context;
  if (options.out === "") throw new UsageError("--out takes a folder.");
  if (compare !== true && env["CI"]) {
    throw new CliError("Nothing is recorded in CI: a person has to look at it.");
  }
  const services = readLiveServices(env);
  const exchanges = resolve(cwd, options.exchanges);
  const calls = chooseCalls(names, { services, folder: exchanges });
  const keys = Object.values(services).flatMap((service) => service?.apiKey ?? []);
  const { signal, clock } = context;
  const run: LiveRun = { calls, sending: { fetch, timeoutMs, keys, signal, clock }, context };
  if (compare === true) return await compareAll(run);
  const folder = resolve(cwd, options.out ?? exchanges);
  const pathOf = ({ exchange }: LiveCall) => join(folder, `${exchange.name}.json`);
  await checkTargets(calls.map(pathOf), options.replace === true);
  const recorded = await askEach(run, "recorded", async (call, answer) => {
    const response = scrubResponse(answer);
    await checkRecordable(call.exchange, response, folder !== exchanges);
    await writeRecording(pathOf(call), toRecording(call.exchange, response, clock.today()));
    context.stdout.write(describeRecorded(call.exchange, response));
  });
  context.stdout.write(`Recorded ${recorded} of ${calls.length} in ${folder}\n`);
}

interface LiveRun {
  readonly calls: readonly LiveCall[];
  readonly sending: Sending;
  readonly context: CliContext;
}

async function compareAll(run: LiveRun): Promise<void> {
  const { calls, context } = run;
  const comparison = openComparison();
  const compared = await askEach(run, "compared", async (call, answer) => {
    await comparison.add(call, answer);
  });
  const differences = comparison.text();
  const result = differences === "" ? "the shapes agree" : "the shapes differ";
  context.stdout.write(`${differences}Compared ${compared} of ${calls.length}: ${result}\n`);
  if (differences !== "") context.exitCode = exitCodes.failed;
}

/** Makes each call, one after the other, and returns how many answers could be used. */
async function askEach(
  { calls, sending, context }: LiveRun,
  done: string,
  use: (call: LiveCall, answer: Exchange["response"]) => Promise<void>,
): Promise<number> {
  let failures = 0;
  for (const call of calls) {
    try {
      await use(call, await readAnswer(call, sending));
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

function describeRecorded({ name, response }: Exchange, recorded: Exchange["response"]): string {
  const { length } = compareShapes([response.body], recorded.body, []);
  return `${name}: recorded, ${length === 0 ? "same shape as before" : `shape differs in ${length} places`}\n`;
}

function toRecording(
  { name, provenance, description, request }: Exchange,
  response: Exchange["response"],
  recordedAt: Date,
): Omit<Exchange, "name"> {
  const situation = name.slice(name.lastIndexOf("/") + 1).replaceAll("-", " ");
  return {
    // A description of the contract's answer is not true of this one.
    description: provenance.source === "live" ? description : `A live answer to: ${situation}.`,
    provenance: {
      source: "live",
      recordedAt: recordedAt.toISOString().slice(0, "YYYY-MM-DD".length),
      model: modelOf(request, response),
    },
    request,
    response,
  };
}

/** @throws UnusableAnswerError for an answer that is private, the emulator's, or breaks the contract. */
async function checkRecordable(
  exchange: Exchange,
  response: Exchange["response"],
  acceptsEmulator: boolean,
): Promise<void> {
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
  for (const folder of new Set(paths.map((path) => dirname(path)))) await checkWritable(folder);
}

async function isReplaceable(path: string): Promise<boolean> {
  try {
    const { provenance } = JSON.parse(await readFile(path, "utf8")) as Partial<Exchange>;
    return provenance?.source === "live";
  } catch (error) {
    return systemErrorCode(error) === "ENOENT";
  }
}

// A permission is not enough on a read-only or full disk, so a folder is really made.
async function checkWritable(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    await rmdir(await mkdtemp(join(folder, ".record-")));
  } catch {
    throw new CliError(`Nothing can be written in ${folder}.`);
  }
}
