export { type Certificate, selfSignedCertificate } from "./certificate.ts";
export {
  Argument,
  Command,
  createCommand,
  decimal,
  InvalidArgumentError,
  Option,
  packageVersion,
  runCommand,
  wholeNumber,
  wordList,
} from "./commands.ts";
export {
  type CliContext,
  type Clock,
  systemClock,
  type Environment,
  type TextSink,
  trimEnvironment,
} from "./context.ts";
export {
  CliError,
  describeSystemError,
  exitCodes,
  InterruptedError,
  systemErrorCode,
  toFileError,
  UsageError,
} from "./errors.ts";
export { isForeignRequest, isLoopbackHost, type RequestSource, toHostname } from "./hosts.ts";
export { closeServer, listen, type ListeningAddress, type ListenOptions } from "./listen.ts";
export { printTexts } from "./print-texts.ts";
export {
  columnsOf,
  isPrintableAscii,
  printable,
  toPrintable,
  toPrintablePath,
  truncateCharacters,
  truncateColumns,
} from "./printable.ts";
export { parseJson, readParsedFile, readTextFile } from "./read-text-file.ts";
export {
  describeDefect,
  type Program,
  type ProgramOptions,
  runProgram,
  runToExitCode,
} from "./run-program.ts";
export { sourceHash } from "./page/page.ts";
export { type FileContent, writeWholeFile } from "./write-whole-file.ts";
