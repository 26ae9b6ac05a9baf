import { join } from "node:path";
import { describeSystemError, writeWholeFile } from "evaluator-kit";
import {
  emulatorHeader,
  type Exchange,
  findSecretIn,
  modelOf,
  pathText,
  scrubResponse,
} from "evaluator-client/testing";
import { contractBreaches } from "../contract-breaches.ts";
import { readAnswer } from "../live/ask.ts";
import type { LiveCall } from "../live/choose-calls.ts";
import { type LiveContext, UnusableAnswerError } from "../live/live-context.ts";
import { compareShapes } from "../shape.ts";

/** Where recordings go, and what may not be in them. */
interface RecordOptions extends LiveContext {
  readonly folder: string;
  /** Every key in use. */
  readonly keys: readonly string[];
}

/**
 * Asks a live service and writes its answer as an exchange.
 *
 * @returns one line about it: the model, and how its shape compares with the exchange before.
 * @throws {UnusableAnswerError} when there is nothing to keep or it could not be written.
 */
export async function recordCall(call: LiveCall, options: RecordOptions): Promise<string> {
  const { exchange } = call;
  const { folder, exchangesFolder, clock } = options;
  const response = scrubResponse(await readAnswer(call, options));
  await checkRecordable(exchange, response, { acceptsEmulator: folder !== exchangesFolder });
  const recording = toRecording(exchange, { response, recordedAt: clock.today() });
  await write(recordingPath(folder, exchange.name), recording);
  const differences = compareShapes([exchange.response.body], response.body, []).length;
  const shape =
    differences === 0 ? "same shape as before" : `shape differs in ${differences} places`;
  return `${exchange.name}: recorded, ${shape}`;
}

function toRecording(
  exchange: Exchange,
  { response, recordedAt }: { response: Exchange["response"]; recordedAt: Date },
): Omit<Exchange, "name"> {
  const { name, provenance, description, request } = exchange;
  const situation = name.slice(name.lastIndexOf("/") + 1).replaceAll("-", " ");
  return {
    // What is written of the contract's answer is not true of this one.
    description:
      provenance.source === "live" ? description : `What a live service answered to: ${situation}.`,
    provenance: {
      source: "live",
      recordedAt: recordedAt.toISOString().slice(0, "YYYY-MM-DD".length),
      model: modelOf(request, response),
    },
    request,
    response,
  };
}

/** Returns the file of a recording. */
export function recordingPath(folder: string, name: string): string {
  return join(folder, `${name}.json`);
}

async function write(path: string, recording: object): Promise<void> {
  try {
    await writeWholeFile(path, `${JSON.stringify(recording, null, 2)}\n`);
  } catch (error) {
    const reason = describeSystemError(error);
    if (reason === null) throw error;
    throw new UnusableAnswerError(`it cannot be written: ${reason}`);
  }
}

/**
 * Checks that an answer may be kept: it is the contract's, holds nothing private and, among this
 * package's own exchanges, does not come from the emulator.
 *
 * @throws {UnusableAnswerError} when it may not; repeats nothing of it.
 */
async function checkRecordable(
  exchange: Exchange,
  response: Exchange["response"],
  { acceptsEmulator }: { acceptsEmulator: boolean },
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
