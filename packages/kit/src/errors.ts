import { getSystemErrorMessage } from "node:util";
import { likeness } from "./likeness.ts";
import { printable, toPrintablePath, withRest } from "./printable.ts";

/** The exit codes of every program. `docs/exit-codes.md` explains them to users. */
export const exitCodes = {
  done: 0,
  /** Wrong input, wrong words or a failure. */
  failed: 1,
  /** Done, but some records have no answer. */
  unanswered: 2,
  notEnoughEvidence: 3,
  interrupted: 130,
  terminated: 143,
} as const;

/**
 * A failure that a person can fix. Only its message is printed: problem, place and next step,
 * without keys or personal data.
 */
export class CliError extends Error {
  /** Compares names: each published package has its own copy of this class, and throws it to the others. */
  static override [Symbol.hasInstance](error: unknown): boolean {
    let ancestor = Object(error).constructor as unknown;
    while (typeof ancestor === "function" && ancestor.name !== this.name)
      ancestor = Object.getPrototypeOf(ancestor);
    return typeof ancestor === "function";
  }

  /** The exit code. @default 1 */
  readonly exitCode: number;

  constructor(message: string, options: ErrorOptions & { exitCode?: number } = {}) {
    super(message, options);
    this.name = new.target.name;
    this.exitCode = options.exitCode ?? exitCodes.failed;
  }
}

/** Returns the error of a command that needs more labels or a promise. */
export function tooLittleEvidence(message: string): CliError {
  return new CliError(message, { exitCode: exitCodes.notEnoughEvidence });
}

const NAMES_SHOWN = 20;

/** Checks a typed name, if there is one; `what` is such as "question". @throws CliError that lists the known names */
export function checkName(what: string, name: string | undefined, knownNames: Iterable<string>) {
  const all = [...new Set(knownNames)];
  if (name === undefined || all.includes(name)) return;
  const verb = all.length === 1 ? "is" : "are";
  const like = (one: string) => likeness(name, one);
  const names =
    all.length > NAMES_SHOWN ? all.toSorted((one, other) => like(other) - like(one)) : all;
  const list = withRest(names, NAMES_SHOWN).join(", ") || "none";
  throw new CliError(printable`There is no ${what} "${name}"; there ${verb} ${list}.`);
}

/** Returns the error of a column that no record has; `problem` ends with its name. */
export function missingColumn(
  problem: string,
  option: string,
  columns: readonly string[],
): CliError {
  const examples = withRest(columns, NAMES_SHOWN)
    .map((column) => `, ${column}`)
    .join("");
  const next = printable`Name another with ${option}${examples.replace(",", ", such as")}.`;
  return new CliError(`${problem}. ${next}`);
}

/** Wrong words; `runCommand` adds the command that prints the help. */
export class UsageError extends CliError {}

/** The reason of a program's signal after Ctrl-C or SIGTERM. */
export class InterruptedError extends CliError {
  constructor(signal: "SIGINT" | "SIGTERM") {
    const exitCode = signal === "SIGINT" ? exitCodes.interrupted : exitCodes.terminated;
    super("Interrupted.", { exitCode });
  }
}

/** Returns the reason of a system error, such as "no space left on device"; null for others. */
export function describeSystemError(error: unknown): string | null {
  if (!(error instanceof Error) || !("errno" in error)) return null;
  return typeof error.errno === "number" ? getSystemErrorMessage(error.errno) : null;
}

/** Returns the code of a system error, such as `ENOENT`; null for other errors. */
export function systemErrorCode(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error)) return null;
  return typeof error.code === "string" ? error.code : null;
}

/** Returns whether a write failed because the reader ended; Windows reports EOF. */
export function isBrokenPipe(error: unknown): boolean {
  return ["EPIPE", "EOF"].includes(systemErrorCode(error) ?? "");
}

/** The next step if a file may not be read or written. */
export const checkRights = "Check the rights of the file and its folder.";
const makeRoom = "Make room there and try again.";

/** The next steps by the code of a system error. */
const nextSteps: Readonly<Record<string, string>> = {
  ENOENT: "Check the path.",
  ENOTDIR: "Check the path.",
  EISDIR: "Name a file, not a folder.",
  EEXIST: "Name a path that does not exist yet.",
  EACCES: checkRights,
  EPERM: checkRights,
  EROFS: checkRights,
  ENOSPC: makeRoom,
  EDQUOT: makeRoom,
};

/**
 * Returns a system error with the action, such as "write a.json", the reason and the next step; others unchanged.
 *
 * @param note - A sentence after the next step, such as "Every answer is kept."
 */
export function toFileError(error: unknown, action: string, note = ""): unknown {
  const reason = describeSystemError(error);
  if (reason === null) return error;
  const next = nextSteps[systemErrorCode(error) ?? ""] ?? "Check the disk and try again.";
  const message = `Cannot ${toPrintablePath(action)}: ${reason}. ${next} ${note}`.trimEnd();
  return new CliError(message, { cause: error });
}
