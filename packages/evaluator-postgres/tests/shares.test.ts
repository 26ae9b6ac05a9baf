import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import { sharedPacer } from "evaluator-client";
import { postgresLimits } from "evaluator-postgres";
import { Client } from "pg";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { makeDatabase } from "./make-database.ts";

const serverUrl = inject("postgresUrl");
const PER_SECOND = 200;
const limits = { requestsPerMinute: PER_SECOND * 60 };
const call = { tokens: 0, retries: 0, deadlineAtMs: Infinity, deadlineMs: Infinity };
const WAITING = 40;
/** Until all members have been seen, and what was left over at the start is used up. */
const SETTLING_MS = 2000;
const MEASURED_MS = 8000;
const DOWN_MS = 4000;

/** Members of one limit that send as often as they may, and a service with that very limit. */
async function startMembers(url: string, count: number) {
  const service = { tokens: PER_SECOND, atMs: performance.now(), throttled: 0 };
  const sentAtMs: number[][] = Array.from({ length: count }, () => []);
  const ending = new AbortController();
  const serve = () => {
    const now = performance.now();
    const refilled = service.tokens + ((now - service.atMs) * PER_SECOND) / 1000;
    service.tokens = Math.min(PER_SECOND, refilled) - 1;
    service.atMs = now;
    if (service.tokens < 0) service.throttled += 1;
    return now;
  };
  const members = sentAtMs.map(async (sent) => {
    await using store = await postgresLimits(url);
    await using pacer = sharedPacer({ store, key: "shares", limits });
    const send = async () => {
      while (!ending.signal.aborted) {
        const admission = await pacer.admit(call);
        sent.push(serve());
        admission.succeeded(null);
      }
    };
    await Promise.all(Array.from({ length: WAITING }, send));
  });
  onTestFinished(() => ending.abort());
  return {
    service,
    /** How many each member has sent between two instants. */
    counts: (fromMs: number, toMs: number) =>
      sentAtMs.map((sent) => sent.filter((at) => at >= fromMs && at < toMs).length),
    end: async () => {
      ending.abort();
      await Promise.all(members);
    },
  };
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

// The figures to reach are 94 % used and 1.05 times, on a machine with time to spare: printed here.
describe.skipIf(serverUrl === null)("a limit that members send at", () => {
  test.each([2, 8])(
    "%i of them have equal shares, and use it without being throttled",
    async (count) => {
      const { counts, service, end } = await startMembers(
        await makeDatabase(serverUrl ?? ""),
        count,
      );
      await wait(SETTLING_MS);
      const fromMs = performance.now();
      await wait(MEASURED_MS);
      const sent = counts(fromMs, fromMs + MEASURED_MS);
      await end();
      const used = sumOf(sent) / ((PER_SECOND * MEASURED_MS) / 1000);
      const ratio = Math.max(...sent) / Math.min(...sent);
      const told = `${(100 * used).toFixed(1)} % used, most over fewest ${ratio.toFixed(3)}`;
      process.stdout.write(`${count} members: ${told}, ${service.throttled} throttled\n`);
      expect(used).toBeGreaterThan(0.85);
      expect(ratio).toBeLessThan(1.15);
      expect(service.throttled).toBe(0);
    },
  );

  test("a database that is away for four seconds costs a fifth at most, and no throttled call", async () => {
    const url = await makeDatabase(serverUrl ?? "");
    const { counts, service, end } = await startMembers(url, 4);
    await wait(SETTLING_MS);
    const admin = new Client(serverUrl ?? "");
    await admin.connect();
    onTestFinished(() => admin.end());
    const name = new URL(url).pathname.slice(1);
    const fromMs = performance.now();
    await admin.query(`alter database ${name} allow_connections false`);
    await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [
      name,
    ]);
    await wait(DOWN_MS);
    const away = sumOf(counts(fromMs, fromMs + DOWN_MS)) / ((PER_SECOND * DOWN_MS) / 1000);
    await admin.query(`alter database ${name} allow_connections true`);
    await wait(SETTLING_MS);
    const backMs = performance.now();
    await wait(SETTLING_MS);
    const back = sumOf(counts(backMs, backMs + SETTLING_MS)) / ((PER_SECOND * SETTLING_MS) / 1000);
    await end();
    const told = `${(100 * away).toFixed(1)} % used, afterwards ${(100 * back).toFixed(1)} %`;
    process.stdout.write(`Without the database: ${told}, ${service.throttled} throttled\n`);
    expect(away).toBeGreaterThan(0.75);
    expect(back).toBeGreaterThan(0.85);
    expect(service.throttled).toBe(0);
  });
});
