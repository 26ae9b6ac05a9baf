export {
  type ImportCommand,
  type QuestionsCommand,
  readArguments,
  type ReportCommand,
} from "../arguments.ts";
export { interrupted } from "../run/interruption.ts";
export type { OpenRuns, ProgramContext } from "../service.ts";
export { openRuns } from "../workers/open-runs.ts";
export { loadCommand } from "./load-command.ts";
export { openCatalog, openTransport } from "./open-service.ts";
