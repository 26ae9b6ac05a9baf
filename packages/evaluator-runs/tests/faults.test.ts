import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { startOwnServer } from "evaluator-kit/postgres-server";
import { mayMount, moveTo, smallDisk } from "../src/testing/small-disk.ts";
import { CONCURRENCY, type Machines, machines, openProxy } from "./machines.ts";

const url = inject("postgresUrl");
// A disk that fills up is a small one, which mostly root alone may mount.
const mounts = await mayMount();
// `KILLS=200 npm run test:postgres -- faults` is the long form.
const KILLS = Number(process.env["KILLS"] ?? 20);
const WORKERS = 3;
const ANSWERS_BETWEEN = 40;
const POLL_MS = 20;
// A kill took 2 s beside a load of twelve on two cores.
const KILL_MS = 6000;
// Longer than a lease of ten seconds and a round of supervision.
const CUT_MS = 15_000;

/** Waits until so many more were answered, or for a while where none comes. */
async function untilAnswered({ answered }: Machines, more: number): Promise<void> {
  const enough = answered.total + more;
  for (let left = 250; answered.total < enough && left > 0; left -= 1) {
    await wait(POLL_MS);
    await answered.count();
  }
}

describe.skipIf(url === null)("machines that answer one run", () => {
  const timeout = 120_000 + KILLS * KILL_MS;
  test(
    `${KILLS} kills lose nothing, and ask no more twice than was in flight`,
    { timeout },
    async () => {
      const all = await machines(url ?? "", 400 + KILLS * ANSWERS_BETWEEN);
      let run = all.start("run");
      const workers = Array.from({ length: WORKERS }, () => all.start("work"));
      const said: string[] = [];
      let killed = 0;
      for (; killed < KILLS && run.child.exitCode === null; killed += 1) {
        await untilAnswered(all, Math.random() * ANSWERS_BETWEEN);
        // Every fourth is the one that has the file, be it while it loads.
        const isRun = killed % 4 === 0;
        const victim = isRun ? run : workers[killed % WORKERS];
        victim?.child.kill("SIGKILL");
        said.push((await victim?.ended)?.stderr ?? "");
        if (isRun) run = all.start("run");
        else workers[killed % WORKERS] = all.start("work");
      }
      // The emulator remembers its last thousand requests only.
      while (run.child.exitCode === null) await untilAnswered(all, 1);
      const { exitCode, stderr } = await run.ended;
      await all.answered.count();
      const again = all.answered.total - all.tickets;
      process.stdout.write(
        `${killed} kills: ${again} asked twice, of at most ${killed * CONCURRENCY}\n`,
      );
      expect([exitCode, stderr]).toEqual([0, expect.stringContaining("Wrote ")]);
      expect(await all.read()).toBe(all.expected);
      expect(killed).toBe(KILLS);
      expect(again).toBeGreaterThanOrEqual(0);
      expect(again).toBeLessThanOrEqual(killed * CONCURRENCY);
      expect(said.join("")).not.toContain("postgres:");
    },
  );

  test("a server that crashes and comes back costs nothing", async () => {
    const server = await startOwnServer();
    if (server === null) return;
    onTestFinished(() => server.stop());
    const all = await machines(server.url, 600);
    const run = all.start("run");
    all.start("work");
    for (const share of [150, 150]) {
      await untilAnswered(all, share);
      await server.restart();
    }
    const { exitCode, stderr } = await run.ended;
    await all.answered.count();
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining("takes answers again")]);
    expect(await all.read()).toBe(all.expected);
    expect(all.answered.total).toBe(all.tickets);
  });

  test.skipIf(!mounts)(
    "a disk of the server that fills up costs nothing, once there is room again",
    async () => {
      const server = await startOwnServer();
      if (server === null) return;
      onTestFinished(() => server.stop());
      const disk = await smallDisk();
      const all = await machines(server.url, 600);
      await moveTo(disk.path, { serverUrl: server.url, url: all.url });
      const run = all.start("run");
      all.start("work");
      await untilAnswered(all, 150);
      await disk.fill();
      // Until no machine may begin another call: each waits for its answers to be kept.
      for (let before = -1; before !== all.answered.total; await wait(2000)) {
        before = all.answered.total;
        await all.answered.count();
      }
      expect(all.answered.total).toBeLessThan(all.tickets);
      await disk.clear();
      const { exitCode, stderr } = await run.ended;
      await all.answered.count();
      expect([exitCode, stderr]).toEqual([0, expect.stringContaining("disk is full")]);
      expect(stderr).toContain("takes answers again");
      expect(await all.read()).toBe(all.expected);
      expect(all.answered.total).toBe(all.tickets);
    },
  );

  test("a worker that is cut off for longer than its lease stops asking, and loses nothing", async () => {
    const all = await machines(url ?? "", 400);
    const proxy = await openProxy(all.url);
    const run = all.start("run", proxy.url);
    await untilAnswered(all, 150);
    proxy.cut();
    await wait(1000);
    await all.answered.count();
    const before = all.answered.total;
    await wait(CUT_MS);
    await all.answered.count();
    expect(all.answered.total).toBe(before);
    proxy.heal();
    const { exitCode } = await run.ended;
    await all.answered.count();
    expect(exitCode).toBe(0);
    expect(await all.read()).toBe(all.expected);
    expect(all.answered.total).toBe(all.tickets);
  });

  test("Ctrl-C lets a machine end what it has begun, and gives the rest to the others", async () => {
    const all = await machines(url ?? "", 500);
    const run = all.start("run");
    const worker = all.start("work");
    await untilAnswered(all, 120);
    worker.child.kill("SIGINT");
    expect((await worker.ended).exitCode).toBe(130);
    expect((await run.ended).exitCode).toBe(0);
    await all.answered.count();
    expect(await all.read()).toBe(all.expected);
    expect(all.answered.total).toBe(all.tickets);
  });
});
