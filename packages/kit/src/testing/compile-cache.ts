import { tmpdir } from "node:os";
import { join } from "node:path";

// By itself, because the configuration of vitest reads it, where vitest cannot be imported yet.

/** For the environment of programs that tests start: with what Node compiled before, they start in half the time. */
export const compileCache = { NODE_COMPILE_CACHE: join(tmpdir(), "evaluator-compile-cache") };
