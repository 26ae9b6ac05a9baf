export { day, optionalFile, questionsForm, sharedOptions, tokenPrice } from "../shared-options.ts";
export { printCounted } from "../amounts.ts";
export { interrupted, repeat } from "../run/interruption.ts";
export {
  firstAddress,
  openCatalog,
  openRuns,
  type OpenRuns,
  openTransport,
  type ProgramContext,
  withoutKeys,
} from "../service.ts";
export { addRunOptions, type RunCommand } from "../options.ts";
export { addExplain, addRunCommands, loadRun, loadWork, runAction } from "./add-run-commands.ts";
