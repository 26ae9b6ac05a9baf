// For tests of limit stores in other workspaces.
export { leaseFrom, pauseAll } from "../pacing/limit-store.ts";
