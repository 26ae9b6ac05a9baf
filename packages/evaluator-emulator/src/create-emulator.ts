import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { unpackBody, UnpackError } from "evaluator-kit";
import type { Unpack } from "./call.ts";
import { engineRoutes } from "./engine/engine-routes.ts";
import type { EngineName } from "./engine/engines.ts";
import { emulate, type FetchEmulatorOptions } from "./fetch-emulator.ts";
import { type Exchange, recordedAnswers } from "./recordings.ts";
import { RequestError } from "./request-error.ts";
import { type Emulator, toEmulator } from "./serve.ts";

/** The options of an emulator. */
export interface EmulatorOptions extends FetchEmulatorOptions {
  /** Exchanges whose answers come first. @default those that come with the emulator */
  readonly exchanges?: readonly Exchange[];
  /** The chat server that is played too, with log-probabilities from the judge. @default none */
  readonly engine?: EngineName;
}

// The same for every emulator of a process.
let packagedAnswers: ReturnType<typeof recordedAnswers> | null = null;

/**
 * Creates an emulator of the gateway and the vendor (contract section 4).
 *
 * @throws {Error} names the rule or fault that is wrong, and the field.
 * @example
 * ```ts
 * const emulator = createEmulator();
 * const { gatewayBaseUrl } = await emulator.listen();
 * ```
 */
export function createEmulator(options: EmulatorOptions = {}): Emulator {
  const { engine, exchanges } = options;
  const recordedAction =
    exchanges === undefined
      ? (packagedAnswers ??= recordedAnswers(loadExchanges()))
      : recordedAnswers(exchanges);
  const { answer, reset } = emulate(options, {
    recordedAnswers: recordedAction,
    unpack,
    ...(engine !== undefined && {
      engine: (emulatorContext) => engineRoutes(engine, emulatorContext),
    }),
  });
  return toEmulator(answer, reset);
}

const unpack: Unpack = (packedBytes, encoding, maxSizeBytes) =>
  unpackBody(packedBytes, encoding, maxSizeBytes).catch((error: unknown) => {
    if (error instanceof UnpackError) throw new RequestError(error.message, error.status);
    throw error;
  });

/** Reads the exchanges that come with the emulator, sorted by name. */
function loadExchanges(): Exchange[] {
  const exchangesFolder = fileURLToPath(import.meta.resolve("evaluator-fixtures/exchanges"));
  return readdirSync(exchangesFolder, { recursive: true, encoding: "utf8" })
    .filter((fileName) => fileName.endsWith(".json"))
    .map((fileName) => fileName.slice(0, -".json".length).split(sep).join("/"))
    .toSorted()
    .map((fileName) => {
      const exchangeText = readFileSync(join(exchangesFolder, `${fileName}.json`), "utf8");
      const { request, response } = JSON.parse(exchangeText) as Exchange;
      return { name: fileName, request, response };
    });
}
