import { serveParent } from "evaluator-cli-kit/child";

const service = {
  /** Imports a module that this process has not loaded, and gives the milliseconds it took. */
  async importModule(url: string): Promise<number> {
    const startedAt = performance.now();
    await import(url);
    return performance.now() - startedAt;
  },
};

/** What an importing process does when asked. */
export type ImportService = typeof service;

serveParent(service);
