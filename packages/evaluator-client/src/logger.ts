import * as z from "zod/mini";
import { EvaluatorError } from "./errors.ts";
import { type AttemptEvent, type Hooks, quietly, type WaitEvent } from "./hooks.ts";

/** Where lines go: `console`, or any logger with some of its methods. */
export interface Logger {
  /** Attempts that succeeded. */
  debug?(line: string): void;
  /** Waits. */
  info?(line: string): void;
  /** Attempts that failed, and states that are too long. */
  warn?(line: string): void;
  /** Calls that failed for good. */
  error?(line: string): void;
}

type Level = keyof Logger;

const levels = ["debug", "info", "warn", "error"] as const;

/** The option `logger`. */
export const loggerSchema = z.custom<Logger>(
  isLogger,
  "it is an object with some of the functions debug, info, warn and error, such as console",
);

/** Writes what the calls of one evaluator do, one line for each event; it never holds key or state. */
export class CallLog {
  readonly #logger: Logger;
  #calls = 0;
  #hasWarnedOfBlank = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Numbers a call that begins. */
  begin(): CallLines {
    this.#calls += 1;
    return new CallLines(this.#logger, this.#calls);
  }

  /** Reports once that a state has nothing to read. */
  warnOfBlank(state: unknown): void {
    if (this.#hasWarnedOfBlank || typeof state !== "string" || /\S/.test(state)) return;
    this.#hasWarnedOfBlank = true;
    const advice = "its answers mean nothing; check where it comes from";
    writeLine(this.#logger, "warn", `a state is empty or only white space: ${advice}.`);
  }
}

/** The lines of one call. */
export class CallLines implements Hooks {
  readonly #logger: Logger;
  readonly #call: number;

  constructor(logger: Logger, call: number) {
    this.#logger = logger;
    this.#call = call;
  }

  onAttempt({ attempt, durationMs, status, error }: AttemptEvent) {
    const after = `after ${Math.round(durationMs)} ms`;
    if (error === null)
      this.#write("debug", `attempt ${attempt} answered ${status ?? ""} ${after}`);
    else this.#write("warn", `attempt ${attempt} failed ${after}: ${describe(error)}`);
  }

  onWait({ attempt, reason, delayMs }: WaitEvent) {
    const time = delayMs === null ? "for its turn" : `${Math.ceil(delayMs)} ms`;
    this.#write("info", `waits ${time} before attempt ${attempt} (${reason})`);
  }

  /** The call failed for good, or its caller aborted it. */
  onFailure(error: unknown): void {
    this.#write("error", `failed: ${describe(error)}`);
  }

  #write(level: Level, what: string): void {
    writeLine(this.#logger, level, `call ${this.#call} ${what}`);
  }
}

/** Writes one line, without anything that breaks it; what the logger throws is ignored. */
function writeLine(logger: Logger, level: Level, what: string): void {
  const line = `evaluator: ${what.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim()}`;
  quietly(() => logger[level]?.(line));
}

const longStateMessage =
  "a state is surely over the 32k tokens that the service reads; shorten it, for example with cutText().";
let hasWarnedOfLongState = false;

/** Reports that a state is too long: to the logger each time, else once as a warning of the process. */
export function warnOfLongState(logger: Logger | undefined): void {
  if (logger !== undefined) return writeLine(logger, "warn", longStateMessage);
  if (hasWarnedOfLongState) return;
  hasWarnedOfLongState = true;
  const warning = { type: "EvaluatorWarning", code: "EVALUATOR_STATE_TOO_LONG" };
  globalThis.process?.emitWarning?.(longStateMessage, warning);
}

/** Our own messages hold no secret; an abort's reason or a bug may hold anything. */
function describe(error: unknown): string {
  if (error instanceof EvaluatorError) return `${error.name}: ${error.message}`;
  return error instanceof Error ? `aborted or broken (${error.name})` : "aborted";
}

function isLogger(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const given = levels.filter((level) => (value as Logger)[level] !== undefined);
  return given.length > 0 && given.every((level) => typeof (value as Logger)[level] === "function");
}
