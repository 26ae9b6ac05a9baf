import { tmpdir } from "node:os";
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

/** Checks a typed name, if there is one; `nameKind` is such as "question". @throws CliError that lists the known names */
export function checkName(
  nameKind: string,
  typedName: string | undefined,
  knownNames: Iterable<string>,
) {
  const distinctNames = [...new Set(knownNames)];
  if (typedName === undefined || distinctNames.includes(typedName)) return;
  const verbForm = distinctNames.length === 1 ? "is" : "are";
  const likenessToTyped = (knownName: string) => likeness(typedName, knownName);
  const orderedNames =
    distinctNames.length > NAMES_SHOWN
      ? distinctNames.toSorted(
          (firstName, secondName) => likenessToTyped(secondName) - likenessToTyped(firstName),
        )
      : distinctNames;
  const listedNames = withRest(orderedNames, NAMES_SHOWN).join(", ") || "none";
  throw new CliError(
    printable`There is no ${nameKind} "${typedName}"; there ${verbForm} ${listedNames}.`,
  );
}

/** Returns the error of a column that no record has; `problem` ends with its name. */
export function missingColumn(
  problem: string,
  optionName: string,
  columnNames: readonly string[],
): CliError {
  const columnExamples = withRest(columnNames, NAMES_SHOWN)
    .map((columnName) => `, ${columnName}`)
    .join("");
  const nextStep = printable`Name another with ${optionName}${columnExamples.replace(",", ", such as")}.`;
  return new CliError(`${problem}. ${nextStep}`);
}

/** Wrong words; `runCommand` adds the command that prints the help. */
export class UsageError extends CliError {}

/** The reason of a program's signal after Ctrl-C or SIGTERM. */
export class InterruptedError extends CliError {
  constructor(signalName: "SIGINT" | "SIGTERM") {
    const exitCode = signalName === "SIGINT" ? exitCodes.interrupted : exitCodes.terminated;
    super("Interrupted.", { exitCode });
  }
}

/** Returns the reason of a system error, such as "no space left on device"; null for others. */
export function describeSystemError(thrownValue: unknown): string | null {
  if (!(thrownValue instanceof Error) || !("errno" in thrownValue)) return null;
  return typeof thrownValue.errno === "number" ? getSystemErrorMessage(thrownValue.errno) : null;
}

/** Returns the code of a system error, such as `ENOENT`; null for other errors. */
export function systemErrorCode(thrownValue: unknown): string | null {
  if (!(thrownValue instanceof Error) || !("code" in thrownValue)) return null;
  return typeof thrownValue.code === "string" ? thrownValue.code : null;
}

/** Returns whether a write failed because the reader ended; Windows reports EOF. */
export function isBrokenPipe(thrownValue: unknown): boolean {
  return ["EPIPE", "EOF"].includes(systemErrorCode(thrownValue) ?? "");
}

/** The next step if a file may not be read or written. */
export const checkRightsAdvice = "Check the rights of the file and its folder.";
const makeRoomAdvice = "Make room there and try again.";

/** The next steps by the code of a system error. */
const nextStepByCode: Readonly<Record<string, string>> = {
  ENOENT: "Check the path.",
  ENOTDIR: "Check the path.",
  EISDIR: "Name a file, not a folder.",
  EEXIST: "Name a path that does not exist yet.",
  EACCES: checkRightsAdvice,
  EPERM: checkRightsAdvice,
  EROFS: checkRightsAdvice,
  ENOSPC: makeRoomAdvice,
  EDQUOT: makeRoomAdvice,
};

/** Returns the error of a temporary file of SQLite or of the system with the next step; others unchanged. */
export function toTemporaryFileError(thrownValue: unknown): unknown {
  if (!(thrownValue instanceof Error)) return thrownValue;
  const ownReason = "errcode" in thrownValue ? thrownValue.message : null;
  const reason = describeSystemError(thrownValue) ?? ownReason;
  if (reason === null) return thrownValue;
  const message = printable`Cannot write into ${tmpdir()}: ${reason}. Make room there, or set TMPDIR.`;
  return new CliError(message, { cause: thrownValue });
}

/**
 * Returns a system error with the action, such as "write a.json", the reason and the next step; others unchanged.
 *
 * @param note - A sentence after the next step, such as "Every answer is kept."
 */
export function toFileError(thrownValue: unknown, action: string, note = ""): unknown {
  const systemReason = describeSystemError(thrownValue);
  if (systemReason === null) return thrownValue;
  const nextStep =
    nextStepByCode[systemErrorCode(thrownValue) ?? ""] ?? "Check the disk and try again.";
  const message =
    `Cannot ${toPrintablePath(action)}: ${systemReason}. ${nextStep} ${note}`.trimEnd();
  return new CliError(message, { cause: thrownValue });
}
