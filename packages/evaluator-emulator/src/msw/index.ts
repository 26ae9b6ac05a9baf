export { emulatorHandlers, type EmulatorHandlersOptions } from "./emulator-handlers.ts";
