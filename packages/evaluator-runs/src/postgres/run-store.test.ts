import { afterAll, beforeAll } from "vitest";
import { testRunStore } from "../testing/contract/index.ts";
import { emptyPgliteStore, openPgliteRuns, type PgliteRuns } from "../testing/pglite-runs.ts";

let opened: PgliteRuns;
beforeAll(async () => void (opened = await openPgliteRuns()));
afterAll(() => opened[Symbol.asyncDispose]());

testRunStore(() => emptyPgliteStore(opened.database, opened.runs), { hasClock: true });
