export { Journal } from "../sqlite/journal.ts";
export { readJournal } from "../sqlite/read-journal.ts";
export { LabelFile } from "../label/label-file.ts";
export { formatRecords } from "../output/write-records.ts";
export { findPrice } from "../money/price.ts";
export { RunTotals } from "../money/totals.ts";
export { showProgress } from "../run/watch-work.ts";
export { DrivenClock } from "./driven-clock.ts";
export { createMachines } from "./machines-on-pglite.ts";
export { makeDatabase, runSql } from "./make-database.ts";
export { openPglite, type PgliteDatabase } from "./pglite-database.ts";
export { forgetAll, outsideChanges } from "./pglite-runs.ts";
export { statusError } from "./refusing.ts";
export {
  type RecordingTransport,
  recordingTransport,
  sampleCalibration,
  sampleResponse,
  sampleSetup,
} from "./samples.ts";
export { mayMount, moveTo, smallDisk } from "./small-disk.ts";
export {
  type CommandOutcome,
  createStart,
  folderWith,
  type StartContext,
  stoppedClock,
} from "./start-in-process.ts";
export { startPage } from "./start-page.ts";
export { AnsweredCalls, type StartedProgram, startProgram } from "./start-program.ts";
export { twoEngines } from "./two-engines.ts";
