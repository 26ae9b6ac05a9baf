import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import { type Child, startChild } from "evaluator-kit/child";
import { createEmulator } from "evaluator-emulator";
import { Client } from "pg";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import type { MemberService } from "./limit-member.ts";
import { makeDatabase } from "../src/testing/make-database.ts";

const serverUrl = inject("postgresUrl");
const PER_SECOND = 100;
/** Until all members have been seen, and what was left over at the start is used up. */
const SETTLING_MS = 3000;
// `SHARE_SECONDS=60 npm run test:postgres -- shares`, on a machine with time to spare, is the long form.
const SECONDS = Number(process.env["SHARE_SECONDS"] ?? 0);
const MEASURED_MS = (SECONDS || 15) * 1000;
// A machine that is busy with other work is late with calls, and so with what it measures.
const REACHED =
  SECONDS > 0
    ? { share: 0.94, ratio: 1.05, away: 0.8, back: 0.94, throttled: 0.001 }
    : { share: 0.6, ratio: 1.4, away: 0.5, back: 0.4, throttled: 0.01 };
const DOWN_MS = 4000;

/** Processes that send as often as one limit lets them, to a service with that very limit. */
class Members {
  readonly #members: readonly Child<MemberService>[];

  private constructor(members: readonly Child<MemberService>[]) {
    this.#members = members;
  }

  /** Starts them, and waits until each has its turns. */
  static async start(url: string, count: number): Promise<Members> {
    // Of a second's calls, so that what is not evenly sent is throttled.
    const limits = { requestsPerMinute: PER_SECOND * 60, burst: PER_SECOND };
    const emulator = createEmulator({ limits });
    onTestFinished(() => emulator.close());
    const { origin } = await emulator.listen();
    const file = new URL("limit-member.ts", import.meta.url);
    const children = Array.from({ length: count }, () => startChild<MemberService>(file));
    onTestFinished(() => {
      for (const child of children) child.kill();
    });
    const started = { url, baseUrl: origin, perSecond: PER_SECOND };
    await Promise.all(children.map((child) => child.ask("start", started)));
    const members = new Members(children);
    const startedAtMs = Date.now();
    for (let fewest = 0; fewest === 0; await wait(200)) {
      fewest = Math.min(...(await members.counts(startedAtMs)).answered);
    }
    await wait(SETTLING_MS);
    return members;
  }

  /** Returns what each has come to since an instant, and which part of all calls was throttled. */
  async counts(fromMs: number, toMs = Date.now()) {
    const asked = { fromMs, toMs };
    const counts = await Promise.all(this.#members.map((child) => child.ask("counts", asked)));
    const answered = counts.map((one) => one.answered);
    const share = sumOf(answered) / ((PER_SECOND * (toMs - fromMs)) / 1000);
    const throttled = sumOf(counts.map((one) => one.throttled)) / (sumOf(answered) || 1);
    return { answered, share, throttled };
  }
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

describe.skipIf(serverUrl === null)("a limit that processes send at", () => {
  test("eight of them have equal shares, and use it without being throttled", async () => {
    const members = await Members.start(await makeDatabase(serverUrl ?? ""), 8);
    const fromMs = Date.now();
    await wait(MEASURED_MS);
    const { answered, share, throttled } = await members.counts(fromMs);
    const ratio = Math.max(...answered) / Math.min(...answered);
    const figures = `${percent(share)} used, most over fewest ${ratio.toFixed(3)}`;
    const each = answered.join(" ");
    process.stdout.write(`8 processes: ${figures} (${each}), ${percent(throttled)} throttled\n`);
    expect(share).toBeGreaterThan(REACHED.share);
    expect(ratio).toBeLessThan(REACHED.ratio);
    expect(throttled).toBeLessThanOrEqual(REACHED.throttled);
  });

  test("a database that is away for four seconds costs a fifth at most, and no throttled call", async () => {
    const url = await makeDatabase(serverUrl ?? "");
    const members = await Members.start(url, 4);
    const admin = new Client(serverUrl ?? "");
    await admin.connect();
    onTestFinished(() => admin.end());
    const name = new URL(url).pathname.slice(1);
    const fromMs = Date.now();
    await admin.query(`alter database ${name} allow_connections false`);
    await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [
      name,
    ]);
    await wait(DOWN_MS);
    const away = await members.counts(fromMs);
    await admin.query(`alter database ${name} allow_connections true`);
    await wait(SETTLING_MS);
    const backMs = Date.now();
    await wait(SETTLING_MS);
    const back = await members.counts(backMs);
    const { throttled } = await members.counts(fromMs);
    const figures = `${percent(away.share)} used, afterwards ${percent(back.share)}`;
    process.stdout.write(`Without the database: ${figures}, ${percent(throttled)} throttled\n`);
    expect(away.share).toBeGreaterThan(REACHED.away);
    expect(back.share).toBeGreaterThan(REACHED.back);
    expect(throttled).toBeLessThanOrEqual(REACHED.throttled);
  });
});
