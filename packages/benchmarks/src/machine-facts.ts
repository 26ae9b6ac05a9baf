import { availableParallelism, cpus, totalmem } from "node:os";
import process from "node:process";

/** Where figures come from. */
export interface MachineFacts {
  readonly node: string;
  readonly platform: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly date: string;
}

/** Gives what a reader of the figures must know about the machine. */
export function machineFacts(now: Date): MachineFacts {
  return {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    date: now.toISOString(),
  };
}
