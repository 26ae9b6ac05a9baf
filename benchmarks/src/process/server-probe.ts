import process from "node:process";
import { serveParent } from "evaluator-kit/child";

// Loaded into a server that is measured while it runs; it ends when its parent lets go of it.

const service = {
  /** Returns the processor time that was used so far, in microseconds. */
  cpuUs(): number {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
  /** Returns the process's highest memory so far, in bytes. */
  peakBytes: (): number => process.resourceUsage().maxRSS * 1024,
};

/** The calls that a measured server takes. */
export type ServerProbe = typeof service;

serveParent(service);
