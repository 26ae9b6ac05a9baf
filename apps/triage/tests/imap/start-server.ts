import type { TestProject } from "vitest/node";
import { type Dovecot, startDovecot } from "./start-dovecot.ts";

declare module "vitest" {
  interface ProvidedContext {
    dovecot: Dovecot;
  }
}

/** Starts one server for all files of tests, and stops it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { stop, ...server } = await startDovecot();
  project.provide("dovecot", server);
  return stop;
}
