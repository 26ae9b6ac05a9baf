import { join } from "node:path";
import { describeSystemError, writeWholeFile } from "evaluator-cli-kit";
import { type Exchange, findSecrets } from "evaluator-fixtures";
import { contractBreaches } from "../contract-breaches.ts";
import { readAnswer } from "../live/ask.ts";
import type { LiveCall } from "../live/choose-calls.ts";
import { emulatorHeader, type LiveContext, UnusableAnswerError } from "../live/live-context.ts";
import { compareShapes, pathText } from "../shape.ts";
import { scrubResponse, toRecording } from "./recording.ts";

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
  const secret = findSecretIn(response);
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

/**
 * Returns what a response holds that looks private and where, such as "a bearer value in
 * response.headers.retry-after", or null. Never repeats it.
 */
export function findSecretIn(response: Exchange["response"]): string | null {
  for (const { path, text } of textsIn(response, ["response"])) {
    const [secret] = findSecrets(text);
    if (secret !== undefined) return `${secret.kind} in ${pathText(path)}`;
  }
  // What only the file's text shows, such as a field named like a header that carries a key.
  const [secret] = findSecrets(JSON.stringify(response));
  return secret === undefined ? null : secret.kind;
}

interface PlacedText {
  readonly path: readonly PropertyKey[];
  readonly text: string;
}

/** Returns every string and every key of a JSON value. */
function textsIn(value: unknown, path: readonly PropertyKey[]): PlacedText[] {
  if (typeof value === "string") return [{ path, text: value }];
  if (Array.isArray(value)) return value.flatMap((item, index) => textsIn(item, [...path, index]));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    const keyPath = [...path, key];
    const ownKey: PlacedText = { path: keyPath, text: key };
    return [ownKey].concat(textsIn(item, keyPath));
  });
}
