import * as z from "zod/mini";
import { EvaluatorError } from "./errors.ts";
import { type Hooks, joinHooks, quietly } from "./hooks.ts";

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

/** Writes one line for each event of an evaluator's calls, without keys or states. */
export class CallLog {
  readonly #logger: Logger;
  #calls = 0;
  #hasWarnedOfBlank = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Makes a call whose events are written besides reaching other hooks. */
  async follow<TValue>(
    others: Hooks | null,
    call: (hooks: Hooks | null) => Promise<TValue>,
  ): Promise<TValue> {
    this.#calls += 1;
    const name = `call ${this.#calls}`;
    const write = (level: Level, text: string) => writeLine(this.#logger, level, `${name} ${text}`);
    try {
      return await call(joinHooks(others, lineHooks(write)));
    } catch (error) {
      write("error", `failed: ${describe(error)}`);
      throw error;
    }
  }

  /** Reports an empty state, once. */
  warnOfBlank(state: unknown): void {
    if (this.#hasWarnedOfBlank || typeof state !== "string" || /\S/.test(state)) return;
    this.#hasWarnedOfBlank = true;
    const advice = "its answers mean nothing; check its source";
    writeLine(this.#logger, "warn", `a state is empty or only white space: ${advice}.`);
  }
}

function lineHooks(write: (level: Level, text: string) => void): Hooks {
  return {
    onAttempt({ attempt, durationMs, status, error }) {
      const after = `after ${Math.round(durationMs)} ms`;
      if (error === null) write("debug", `attempt ${attempt} answered ${status ?? ""} ${after}`);
      else write("warn", `attempt ${attempt} failed ${after}: ${describe(error)}`);
    },
    onWait({ attempt, reason, delayMs }) {
      const time = delayMs === null ? "for its turn" : `${Math.ceil(delayMs)} ms`;
      write("info", `waits ${time} before attempt ${attempt} (${reason})`);
    },
  };
}

/** Writes text as one line; errors of the logger are ignored. */
function writeLine(logger: Logger, level: Level, text: string): void {
  const line = `evaluator: ${text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim()}`;
  quietly(() => logger[level]?.(line));
}

const longStateMessage =
  "a state is surely over the 32k tokens that the service reads; shorten it, for example with cutText().";
let hasWarnedOfLongState = false;

/** Reports a state that is too long: to the logger each time, else once as a warning of the process. */
export function warnOfLongState(logger: Logger | undefined): void {
  if (logger !== undefined) return writeLine(logger, "warn", longStateMessage);
  if (hasWarnedOfLongState) return;
  hasWarnedOfLongState = true;
  const warning = { type: "EvaluatorWarning", code: "EVALUATOR_STATE_TOO_LONG" };
  globalThis.process?.emitWarning?.(longStateMessage, warning);
}

/** Only our own messages are sure to contain no secret. */
function describe(error: unknown): string {
  if (error instanceof EvaluatorError) return `${error.name}: ${error.message}`;
  return error instanceof Error ? `aborted or broken (${error.name})` : "aborted";
}

function isLogger(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const given = levels.filter((level) => (value as Logger)[level] !== undefined);
  return given.length > 0 && given.every((level) => typeof (value as Logger)[level] === "function");
}
