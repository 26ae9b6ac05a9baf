import { type Environment, logVariable, programEnvironment } from "./environment.ts";
import { EvaluatorError } from "./errors.ts";
import { rejectVariable } from "./options.ts";

/** One attempt that has ended. */
export interface AttemptEvent {
  /** Which attempt of the call it was, from 1. */
  readonly attempt: number;
  /** From sending to the checked answer or the error, in milliseconds. */
  readonly durationMs: number;
  /** The HTTP status of the response, or null when there was none. */
  readonly status: number | null;
  /** Why it failed, or null when it succeeded. */
  readonly error: EvaluatorError | null;
}

/** One wait that begins before an attempt. */
export interface WaitEvent {
  /** Which attempt of the call comes after it, from 1. */
  readonly attempt: number;
  /** Its own backoff after a failure, or its turn under the rate limit. */
  readonly reason: "backoff" | "rate-limit";
  /** How long it lasts, in milliseconds: at least the pause of all calls; null when not known. */
  readonly delayMs: number | null;
}

/** Callbacks for the events of a call; their errors change no call, and are reported once. */
export interface Hooks {
  /** Called after each attempt. */
  onAttempt?: ((event: AttemptEvent) => void) | undefined;
  /** Called when a wait begins. */
  onWait?: ((event: WaitEvent) => void) | undefined;
}

/** Joins hooks so that each event reaches all of them, even if one throws; null if none has a callback. */
export function joinHooks(...givenHookLists: readonly (Hooks | null)[]): Hooks | null {
  const joinedHookLists = givenHookLists.filter(
    (hooks) => hooks?.onAttempt !== undefined || hooks?.onWait !== undefined,
  );
  if (joinedHookLists.length === 0) return null;
  return {
    onAttempt: (event) => joinedHookLists.forEach((hooks) => quietly(hooks, "onAttempt", event)),
    onWait: (event) => joinedHookLists.forEach((hooks) => quietly(hooks, "onWait", event)),
  };
}

/** Callbacks that failed. */
const brokenCallbacks = new WeakSet<object>();

/** Calls a callback of the user: if it throws or rejects, no call fails, and the process is warned once. */
export function quietly<TName extends string, TValue>(
  owner: { readonly [TKey in TName]?: ((value: TValue) => unknown) | undefined } | null | undefined,
  name: TName,
  value: TValue,
): void {
  const callback = owner?.[name];
  if (callback === undefined) return;
  const report = (reason: unknown) => warnOfBroken(callback, name, reason);
  try {
    const result = callback.call(owner, value) as Partial<PromiseLike<unknown>> | undefined;
    if (typeof result?.then === "function") void result.then(undefined, report);
  } catch (error) {
    report(error);
  }
}

/** Its message may contain anything, so only its name is reported. */
function warnOfBroken(callback: object, name: string, reason: unknown): void {
  if (brokenCallbacks.has(callback)) return;
  brokenCallbacks.add(callback);
  const kind = reason instanceof Error ? reason.name : typeof reason;
  const message = `the callback "${name}" failed (${kind}), which changes no call; handle its errors inside of it.`;
  const warning = { type: "EvaluatorWarning", code: "EVALUATOR_CALLBACK_FAILED" };
  globalThis.process?.emitWarning?.(message, warning);
}

/** Where lines go: `console`, or any logger with some of its methods. */
export interface Logger {
  /** Attempts that succeeded. */
  debug?: ((line: string) => void) | undefined;
  /** Waits. */
  info?: ((line: string) => void) | undefined;
  /** Attempts that failed, and states that are too long. */
  warn?: ((line: string) => void) | undefined;
  /** Calls that failed for good. */
  error?: ((line: string) => void) | undefined;
}

type Level = keyof Logger;
/** The methods of a logger, the most talkative first. */
export const logLevels = ["debug", "info", "warn", "error"] as const satisfies readonly Level[];

/**
 * Returns a logger on standard error from the level that `EVALUATOR_LOG` names, or undefined.
 *
 * @throws {ConfigurationError} when it names no level.
 */
export function loggerFromEnvironment(env: Environment = programEnvironment()): Logger | undefined {
  const name = env[logVariable]?.trim() || "off";
  if (name === "off") return undefined;
  const first = logLevels.findIndex((level) => level === name);
  if (first === -1)
    rejectVariable(logVariable, "logger", `is none of ${logLevels.join(", ")} and off`);
  return Object.fromEntries(logLevels.slice(first).map((level) => [level, printLine]));
}

/** Prints on standard error, since a program's own output may be data. */
function printLine(line: string): void {
  globalThis.console.error(line);
}

/** Writes one line for each event of an evaluator's calls, without keys or states. */
export class CallLog {
  // A field, so that a call without a logger enters no function for it.
  readonly isSilent: boolean;
  readonly #logger: Logger | undefined;
  #calls = 0;
  #hasWarnedOfBlank = false;

  constructor(logger: Logger | undefined) {
    this.#logger = logger;
    this.isSilent = logger === undefined;
  }

  /** Makes a call whose events are written besides reaching other hooks. */
  async follow<TValue>(
    others: Hooks | null,
    call: (hooks: Hooks | null) => Promise<TValue>,
  ): Promise<TValue> {
    this.#calls += 1;
    const name = `call ${this.#calls}`;
    const write = (level: Level, text: string) => this.#write(level, `${name} ${text}`);
    try {
      return await call(joinHooks(others, lineHooks(write)));
    } catch (error) {
      write("error", `failed: ${describe(error)}`);
      throw error;
    }
  }

  #write(level: Level, text: string): void {
    const line = `evaluator: ${text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim()}`;
    quietly(this.#logger, level, line);
  }

  /** Reports an empty state, once. */
  warnOfBlank(state: unknown): void {
    if (this.#hasWarnedOfBlank || typeof state !== "string" || /\S/.test(state)) return;
    this.#hasWarnedOfBlank = true;
    const advice = "its answers mean nothing; check its source";
    this.#write("warn", `a state is empty or only white space: ${advice}.`);
  }
}

function lineHooks(write: (level: Level, text: string) => void): Hooks {
  return {
    onAttempt({ attempt, durationMs, status, error }) {
      const after = `after ${Math.round(durationMs)} ms`;
      const answeredText = status === null ? "answered" : `answered ${status}`;
      if (error === null) write("debug", `attempt ${attempt} ${answeredText} ${after}`);
      else write("warn", `attempt ${attempt} failed ${after}: ${describe(error)}`);
    },
    onWait({ attempt, reason, delayMs }) {
      const time = delayMs === null ? "for its turn" : `${Math.ceil(delayMs)} ms`;
      write("info", `waits ${time} before attempt ${attempt} (${reason})`);
    },
  };
}

/** Only our own messages are sure to contain no secret. */
function describe(error: unknown): string {
  if (error instanceof EvaluatorError) return `${error.name}: ${error.message}`;
  return error instanceof Error ? `aborted or broken (${error.name})` : "aborted";
}
