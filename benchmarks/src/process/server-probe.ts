import process from "node:process";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { serveParent } from "evaluator-kit/child";

// Loaded into a server that is measured while it runs; it ends when its parent lets go of it.

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const service = {
  /** Returns the processor time that was used so far, in microseconds. */
  cpuUs(): number {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
  /** Returns the memory that is in use after a collection of garbage, in bytes. */
  usedBytes(): number {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  },
};

/** The calls that a measured server takes. */
export type ServerProbe = typeof service;

serveParent(service);
