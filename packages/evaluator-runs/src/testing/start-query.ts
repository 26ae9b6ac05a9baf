import { spawn } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { compileCache, temporaryFolder } from "evaluator-kit/testing";
import { expect, onTestFinished } from "vitest";
import { type StartedProgram, watchEnd } from "./start-program.ts";

const main = fileURLToPath(new URL("tickets/main.ts", import.meta.url));
const counted = "with recursive t (n) as (select 1 union all select n + 1 from t)";

/** Queries that do not end by themselves, for a journal with a few tickets. */
export const endlessQueries: Readonly<Record<string, string>> = {
  "a count": `${counted} select count(*) from t`,
  "a cross join": `${counted}, u (m) as (select n from t) select count(*) from t, u`,
  "a sort": `${counted} select n from t order by n desc`,
  "eight copies of tickets": `select count(*) from ${Array.from({ length: 8 }, (_, at) => `tickets t${at}`).join(", ")}`,
};

/** A query in its own process, on Linux. */
export interface StartedQuery extends StartedProgram {
  /** Waits until the process for SQLite has been in a query for a while, and returns its number. */
  busyProcess(): Promise<number>;
  /** Returns what is left of the query: its processes and its files. */
  rest(): Promise<{ processes: number[]; files: string[] }>;
}

/** Starts the program of tickets with a query, a key, and a file of variables with another. */
export async function startQuery(cwd: string, words: readonly string[]): Promise<StartedQuery> {
  const folder = await temporaryFolder();
  const envFile = join(await temporaryFolder(), ".env");
  await writeFile(envFile, "SECRET_IN_FILE=hidden\n");
  const child = spawn(process.execPath, [`--env-file=${envFile}`, main, "query", ...words], {
    cwd,
    env: { ...compileCache, TMPDIR: folder, AI_GATEWAY_API_KEY: "hidden" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const processes = () => processesNaming(folder);
  return {
    child,
    ended: watchEnd(child),
    async busyProcess() {
      const isBusy = async () =>
        (await Promise.all((await processes()).map(cpuTicks))).some(isLong);
      await expect.poll(isBusy).toBe(true);
      return (await processes())[0] ?? 0;
    },
    rest: async () => ({ processes: await processes(), files: await readdir(folder) }),
  };
}

async function processesNaming(path: string): Promise<number[]> {
  const numbers = (await readdir("/proc")).map(Number).filter(Number.isInteger);
  const lines = await Promise.all(
    numbers.map((number) => readFile(`/proc/${number}/cmdline`, "utf8").catch(() => "")),
  );
  return numbers.filter((_, at) => lines[at]?.includes(path));
}

// A hundredth of a second each; to start takes Node about twenty.
const isLong = (ticks: number) => ticks > 80;

async function cpuTicks(process: number): Promise<number> {
  const stat = await readFile(`/proc/${process}/stat`, "utf8").catch(() => "");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}
