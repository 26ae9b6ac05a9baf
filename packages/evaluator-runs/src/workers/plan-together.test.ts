import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "evaluator-kit";
import { AuthenticationError } from "evaluator-client";
import { DatabaseError } from "../postgres/index.ts";
import { expect, test } from "vitest";
import { recordingTransport, sampleResponse } from "../testing/samples.ts";
import { ticketMachines } from "../testing/tickets/start-tickets.ts";
import { manyTickets } from "../testing/tickets/ticket-source.ts";
import { folderWith, startTickets } from "../testing/tickets/start-tickets.ts";

const { database, env, openRuns, start } = ticketMachines();

async function read(cwd: string, name: string): Promise<string> {
  return await readFile(join(cwd, name), "utf8");
}

test("results are those of one machine, in every format", async () => {
  const tickets = manyTickets(102); // a machine takes a hundred at a time
  const respond = (index: number) => sampleResponse({ importance: index % 5 });
  const cwd = await folderWith(tickets);
  const together = await folderWith(tickets);
  const alone = recordingTransport(respond);
  const transport = recordingTransport(respond);
  for (const format of ["json", "ndjson", "csv"]) {
    const asked = ["inbox.json", "--format", format];
    await startTickets(asked, { cwd, transport: alone });
    const expected = await read(cwd, `inbox.tickets.${format}`);
    const { exitCode, stderr } = await start(asked, { cwd: together, transport });
    expect([exitCode, transport.requests.length]).toEqual([0, 102]);
    expect(stderr).toContain(
      format === "json"
        ? "Loaded as run 1; other machines join with: tickets work --run 1"
        : "Joined run 1: 102 of 102 answered already.",
    );
    expect(await read(together, `inbox.tickets.${format}`)).toBe(expected);
    expect((await start(["export", "--format", format], { cwd })).stdout).toBe(expected);
  }
});

test("the tickets of a longer export are new, in its table and its export", async () => {
  const cwd = await folderWith(manyTickets(3));
  await start(["inbox.json"], { cwd });
  await writeFile(join(cwd, "inbox.json"), JSON.stringify(manyTickets(4).slice(1)));
  const { stdout, stderr } = await start(["inbox.json"], { cwd });
  expect(stderr).toMatch(/New since the run of \d{4}-\d\d-\d\d: 1 of 3 tickets\.\n/);
  expect(stdout.match(/ new .*/g)).toHaveLength(1);
  const exported = await start(["export", "--only", "new", "--format", "ndjson"], { cwd });
  expect(JSON.parse(exported.stdout)).toMatchObject({ id: "m-3" });
});

test("another machine works without the file, and two together ask about each ticket once", async () => {
  const cwd = await folderWith(manyTickets(150));
  const transport = recordingTransport();
  // Only for what the other machine is at does one wait; the clock of all other tests stands still.
  const clock = systemClock;
  const first = start(["inbox.json", "--concurrency", "2"], { cwd, transport, clock });
  await expect.poll(() => transport.requests.length).toBeGreaterThan(0);
  const second = start(["work", "--run", "1"], { cwd: "/", transport, clock });
  expect([(await first).exitCode, (await second).exitCode]).toEqual([0, 0]);
  expect(transport.requests).toHaveLength(150);
});

test("a wrong key stops the run for all, and the right one goes on where it was", async () => {
  const cwd = await folderWith(manyTickets(5));
  const ids = { type: null, requestId: null, generationId: null };
  const details = { ...ids, status: 401, retryAfterMs: null, needsPaidCredits: false };
  const wrong = new AuthenticationError("The key is wrong.", details);
  const refusing = { ...recordingTransport(), send: () => Promise.reject(wrong) };
  const { exitCode, stderr } = await start(["inbox.json", "--concurrency", "1"], {
    cwd,
    transport: refusing,
  });
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining("Stopped: The key is wrong.")]);
  const work = await start(["work", "--run", "1"], { cwd });
  expect(work.stderr).toContain("Run 1 was stopped: The key is wrong.");
  const status = await start(["status"], { cwd });
  expect(status.stdout).toMatch(/^1 {4}stopped {2}0 {9}5 /m);
  expect(await start(["inbox.json", "--concurrency", "1"], { cwd })).toMatchObject({ exitCode: 0 });
});

test("a wrong key at the last ticket stops the run, and Ctrl-C with the last answer writes no results", async () => {
  const tickets = manyTickets(2);
  const cwd = await folderWith(tickets);
  const ids = { type: null, requestId: null, generationId: null };
  const details = { ...ids, status: 401, retryAfterMs: null, needsPaidCredits: false };
  const respond = (index: number) => {
    if (index === 1) throw new AuthenticationError("The key is wrong.", details);
    return sampleResponse();
  };
  const words = ["inbox.json", "--concurrency", "1"];
  const stopped = await start(words, { cwd, transport: recordingTransport(respond) });
  expect([stopped.exitCode, stopped.stderr]).toEqual([
    1,
    expect.stringContaining("Stopped: The key is wrong.\nNo results written. 1 of 2 answers"),
  ]);
  const interruption = new AbortController();
  const last = recordingTransport(() => {
    interruption.abort(new Error("Ctrl-C"));
    return sampleResponse();
  });
  const { signal } = interruption;
  const interrupted = await start(words, { cwd, transport: last, signal });
  expect([interrupted.exitCode, interrupted.stderr]).toEqual([
    130,
    expect.stringContaining("Interrupted; no results written. 2 of 2 answers are kept"),
  ]);
  expect(await start(words, { cwd })).toMatchObject({ exitCode: 0 });
});

test("ends before a call that the run may not cost, and goes on when it may", async () => {
  const dear = () => {
    const response = sampleResponse();
    const gateway = { marketCost: "0.003" };
    return { ...response, providerMetadata: { ...response.providerMetadata, gateway } };
  };
  const cwd = await folderWith(manyTickets(10));
  const transport = recordingTransport(dear);
  const { exitCode, stderr } = await start(
    ["inbox.json", "--concurrency", "1", "--max-cost", "0.01"],
    {
      cwd,
      transport,
    },
  );
  expect([exitCode, transport.requests.length]).toEqual([1, 3]);
  expect(stderr).toContain("costs more than --max-cost 0.01; raise it");
  expect(stderr).toContain("3 of 10 answers are kept");
  await start(["inbox.json", "--concurrency", "1", "--max-cost", "1"], { cwd, transport });
  expect(transport.requests).toHaveLength(10);
});

test("a worker of another engine, or with other questions, is refused before it asks", async () => {
  const cwd = await folderWith(manyTickets(2));
  const controller = new AbortController();
  const transport = recordingTransport(() => {
    controller.abort(new Error("enough"));
    return sampleResponse();
  });
  await start(["inbox.json"], { cwd, transport, signal: controller.signal });
  const other = { ...recordingTransport(), name: "another" };
  const refused = await start(["work", "--run", "1"], { cwd, transport: other });
  expect([refused.exitCode, other.requests.length]).toEqual([1, 0]);
  expect(refused.stderr).toContain(
    "Run 1 asks unknown through gateway, not unknown through another",
  );
  await database().query("update evaluator.setups set questions = '{}'");
  const changed = await start(["work", "--run", "1"], { cwd });
  expect(changed.stderr).toContain("Run 1 is of another version of this program");
});

test("a report that is late when a worker ends leaves no worker behind", async () => {
  const ended = Promise.withResolvers<void>();
  const openSlow = async () => {
    const runs = await openRuns();
    const [report, finish] = [runs.report.bind(runs), runs.finish.bind(runs)];
    return Object.assign(runs, {
      async report(...reported: Parameters<typeof report>) {
        await ended.promise;
        for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate);
        return await report(...reported);
      },
      finish: (...chunk: Parameters<typeof finish>) => finish(...chunk).finally(ended.resolve),
    });
  };
  const cwd = await folderWith(manyTickets(2));
  expect(await start(["inbox.json"], { cwd, openRuns: openSlow })).toMatchObject({ exitCode: 0 });
  expect(await (await openRuns()).workers(1)).toEqual([]);
});

test("other questions about the same file are another run, and it says so", async () => {
  const cwd = await folderWith(manyTickets(1));
  await start(["inbox.json"], { cwd });
  const { stderr } = await start(["inbox.json"], { cwd, env: { ...env, TICKETS_TEAM: "Ada" } });
  expect(stderr).toContain("Loaded as run 2");
  expect(stderr).toContain("Run 1 of inbox.json asks other questions.");
});

test("explain and a dry run read the database", async () => {
  const cwd = await folderWith(manyTickets(2));
  await start(["inbox.json"], { cwd });
  const explained = await start(["explain", "m-1"], { cwd });
  expect(explained.stdout).toMatch(/^ticket {4}m-1\nasked {5}unknown through gateway\n/);
  expect((await start(["explain", "m-9"], { cwd })).stderr).toMatch(/^No run of this journal has/);
  const dry = await start(["inbox.json", "--dry-run"], { cwd });
  expect(dry.stdout).toMatch(/^To ask: 0 tickets, .*; 2 answered already\.\n$/);
  expect((await start(["status", "--run", "7"], { cwd })).stderr).toContain("no run 7");
});

test("a query asks PostgreSQL itself, which only reads", async () => {
  const cwd = await folderWith(manyTickets(3));
  const transport = recordingTransport((index) => sampleResponse({ importance: index }));
  await start(["inbox.json"], { cwd, transport });
  const refused = await start(["query", "select 1"], { cwd });
  expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
  expect(refused.stderr).toMatch(/^The role postgres may .* create role triage_reader login /);
  expect(refused.stderr).toMatch(/\n--allow-superuser allows it\.\n$/);
  const query = async (text: string) => await start(["query", text, "--allow-superuser"], { cwd });
  const { stdout } = await query(
    `select m.id, m.importance, category_probabilities ->> 'receipt' as receipt, date::date + 1,
       name from tickets m join answers using (id), runs where m.importance > 0 order by 2 desc`,
  );
  expect(stdout).toBe(
    "id,importance,receipt,?column?,name\n" +
      "m-2,2,1,2026-11-03,inbox.json\nm-1,1,1,2026-11-03,inbox.json\n",
  );
  expect(await query("select count(*) from tickets -- all")).toEqual({
    exitCode: 0,
    stdout: "count\n3\n",
    stderr: "This role owns the journal; a read-only role is safer.\n",
  });
  const large = await query("select repeat('x', 1000001)");
  expect(large.stderr).toContain("A value is over 1 MB, or a row over 2 MB");
  for (const [text, message] of [
    ["select evaluator.forget_run(1)", "A query only reads: cannot execute DEL"],
    ["with x as (delete from tickets returning *) select * from x", "data-modifying statements"],
    [
      "with x as (select 1) delete from tickets",
      'syntax error at or near "delete" at character 22',
    ],
    ["select scm from tickets", 'column "scm" does not exist at character 8. Perhaps you meant'],
    ["select subject::int from tickets", "A value does not fit"],
  ] as const) {
    const { exitCode, stderr } = await query(text);
    expect([text, exitCode, stderr]).toEqual([text, 1, expect.stringContaining(message)]);
    expect(stderr).toContain("There are:\n  tickets: id, ");
    expect(stderr).not.toContain("About");
  }
  expect((await start(["status"], { cwd })).stdout).toContain("done");
});

test("what is wrong with the database is said without its URL", async () => {
  const cwd = await folderWith(manyTickets(1));
  const broken = new DatabaseError("PostgreSQL is read-only.", { failure: "read-only" });
  const openRuns = () => Promise.reject(broken);
  for (const words of [["inbox.json"], ["work"], ["status"], ["export"], ["explain", "m-1"]]) {
    const { exitCode, stderr } = await start(words, { cwd, openRuns });
    expect(exitCode).toBe(1);
    expect(stderr).toContain("The journal in PostgreSQL cannot be used: PostgreSQL is read-only.");
    expect(stderr).not.toContain("secret");
  }
});
