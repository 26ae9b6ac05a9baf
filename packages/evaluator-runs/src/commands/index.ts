export { day, examples, optionalFile, sharedOptions } from "../options.ts";
export { interrupted } from "../run/interruption.ts";
export type { OpenRuns, ProgramContext } from "../service.ts";
export { addRunCommands, loadExplain, runAction } from "./add-run-commands.ts";
export { openCatalog, openRuns, openTransport } from "./open-service.ts";
