import { createHash } from "node:crypto";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { callKey } from "../journal/kept-answer.ts";
import { recordingTransport, sampleResponse } from "../testing/samples.ts";
import { mayMount, smallDisk } from "../testing/small-disk.ts";
import { ticketMachines } from "../testing/tickets/start-tickets.ts";
import { manyTickets } from "../testing/tickets/ticket-source.ts";
import { folderWith } from "../testing/tickets/start-tickets.ts";

const { database, start } = ticketMachines();

async function read(cwd: string, name: string): Promise<string> {
  return await readFile(join(cwd, name), "utf8");
}

test("the same command joins the run, and pays for nothing again", async () => {
  const tickets = manyTickets(3);
  await start(["inbox.json"], { cwd: await folderWith(tickets) });
  const transport = recordingTransport();
  const { stderr } = await start(["inbox.json"], { cwd: await folderWith(tickets), transport });
  expect(transport.requests).toEqual([]);
  expect(stderr).toContain("Joined run 1: 3 of 3 answered already.");
  expect(stderr).toContain("Run 1 answered: 3, 0 of them here. Took 900 tokens, $0.000038, ");
});

test("a run that is joined again and again keeps an end for each run that began meanwhile, and no other", async () => {
  const [cwd, other] = [await folderWith(manyTickets(2)), await folderWith(manyTickets(3))];
  const kept = async () => {
    const ends = "select cardinality(earlier_ends) as ends from evaluator.runs order by run";
    return (await database().query<{ ends: number }>(ends)).map(({ ends: count }) => count);
  };
  for (let time = 0; time < 4; time += 1) await start(["inbox.json"], { cwd });
  expect(await kept()).toEqual([1]);
  await start(["inbox.json"], { cwd: other });
  for (let time = 0; time < 3; time += 1) await start(["inbox.json"], { cwd });
  expect(await kept()).toEqual([2, 0]);
  const { stderr } = await start(["inbox.json"], { cwd: other });
  expect(stderr).toMatch(/New since the run of .*: 1 of 3 tickets\.\n/);
});

/** Returns how many rows of answers the database has read. */
async function answersRead(): Promise<number> {
  const { query } = database();
  await query("select pg_stat_force_next_flush()");
  await query("select pg_stat_clear_snapshot()");
  const [row] = await query<{ read: string }>(
    "select seq_tup_read + idx_tup_fetch as read from pg_stat_user_tables where relid = 'evaluator.answers'::regclass",
  );
  return Number(row?.read);
}

test("the same command reads no answers before it goes on but those of open chunks", async () => {
  const cwd = await folderWith(manyTickets(230));
  const controller = new AbortController();
  const ending = recordingTransport((index) => {
    if (index === 208) controller.abort(new Error("enough"));
    return sampleResponse();
  });
  await start(["inbox.json", "--concurrency", "1"], {
    cwd,
    transport: ending,
    signal: controller.signal,
  });
  const [before, reads] = [await answersRead(), [] as number[]];
  const transport = recordingTransport();
  const send: typeof transport.send = async (...call) => {
    if (reads.length === 0) reads.push((await answersRead()) - before);
    return await transport.send(...call);
  };
  const { stderr } = await start(["inbox.json", "--concurrency", "1"], {
    cwd,
    transport: { ...transport, send },
  });
  expect(transport.requests).toHaveLength(21);
  // Of the nine that its open chunk has: to list the runs, to join this one, to count what the chunk cost, to read it.
  expect(reads[0]).toBeLessThanOrEqual(4 * 9);
  expect(stderr).toMatch(/^To ask: 21 tickets, about [\d,]+ tokens, .*; 209 answered already\.$/m);
});

test("other tickets, as many, are another run, which looks up what is answered already", async () => {
  await start(["inbox.json"], { cwd: await folderWith(manyTickets(3)) });
  const others = await folderWith(manyTickets(4).slice(1));
  expect((await start(["inbox.json"], { cwd: others })).stderr).toContain("; 2 answered already.");
});

test("a run that another process has not loaded to its end looks up what is answered already", async () => {
  const cwd = await folderWith(manyTickets(3));
  await start(["inbox.json"], { cwd });
  await database().query(
    `truncate evaluator.records, evaluator.chunks;
     update evaluator.runs set state = 'loading', answered = 0, asked = 0, chunks_left = 1`,
  );
  const { exitCode, stderr } = await start(["inbox.json"], { cwd });
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining("; 3 answered already.")]);
});

test("answers that were removed or changed are asked for again by the next command", async () => {
  const cwd = await folderWith(manyTickets(3));
  await start(["inbox.json"], { cwd });
  const expected = await read(cwd, "inbox.tickets.json");
  await database().query(
    `with gone as (delete from evaluator.answers where key = (select min(key) from evaluator.answers))
     update evaluator.answers set evaluation = '{}'
     where key = (select max(key) from evaluator.answers)`,
  );
  const transport = recordingTransport();
  const { exitCode, stderr } = await start(["inbox.json"], { cwd, transport });
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining("journal; run again.")]);
  expect(transport.requests).toEqual([]);
  expect(await start(["inbox.json"], { cwd, transport })).toMatchObject({ exitCode: 0 });
  expect(transport.requests).toHaveLength(2);
  expect(await read(cwd, "inbox.tickets.json")).toBe(expected);
});

test.skipIf(!(await mayMount()))(
  "a disk without room for the results is refused before a call is paid",
  async () => {
    const { path, ...disk } = await smallDisk();
    await writeFile(join(path, "inbox.json"), JSON.stringify(manyTickets(2)));
    await disk.fill();
    const transport = recordingTransport();
    const { exitCode, stderr } = await start(["inbox.json"], { cwd: path, transport });
    expect([exitCode, transport.requests.length]).toEqual([1, 0]);
    expect(stderr).toContain("no space left on device. Make room there and try again.");
  },
);

test("a file with the contents of another has its own run, which pays for nothing again", async () => {
  const cwd = await folderWith(manyTickets(3));
  await copyFile(join(cwd, "inbox.json"), join(cwd, "copy.json"));
  const transport = recordingTransport();
  for (const name of ["inbox.json", "copy.json", "copy.json"]) {
    const { exitCode } = await start([name], { cwd, transport });
    expect([exitCode, transport.requests.length]).toEqual([0, 3]);
    const exported = await start(["export", name, "--format", "ndjson"], { cwd });
    expect(exported.stdout.split("\n")).toHaveLength(4);
  }
  const { stdout } = await start(["status"], { cwd });
  expect(stdout).toMatch(/^1 .* inbox\.json\n2 .* copy\.json\n$/m);
});

test("a file with the contents of another whose run is open joins that run, which pays once", async () => {
  const cwd = await folderWith(manyTickets(6));
  await copyFile(join(cwd, "inbox.json"), join(cwd, "copy.json"));
  const controller = new AbortController();
  const transport = recordingTransport((index) => {
    if (index === 2) controller.abort(new Error("enough"));
    return sampleResponse();
  });
  const { signal } = controller;
  await start(["inbox.json", "--concurrency", "1"], { cwd, transport, signal });
  const copy = await start(["copy.json"], { cwd, transport });
  expect(copy.stderr).toContain("Joined run 1 of inbox.json: 3 of 6 answered");
  expect([copy.exitCode, transport.requests.length]).toEqual([0, 6]);
  expect((await start(["copy.json"], { cwd, transport })).stderr).toContain("Loaded as run 2;");
  expect(transport.requests).toHaveLength(6);
});

test("another name of the records of a run that was stopped has no maximum cost of its own", async () => {
  const cwd = await folderWith(manyTickets(6));
  await copyFile(join(cwd, "inbox.json"), join(cwd, "copy.json"));
  const transport = recordingTransport();
  await start(["inbox.json"], { cwd, transport });
  await database().query("update evaluator.runs set state = 'stopped'");
  const { stderr } = await start(["copy.json"], { cwd, transport });
  expect(stderr).toContain("Joined run 1 of inbox.json:");
});

test("the digest of a run is that of older versions, so that they join each other's runs", async () => {
  const cwd = await folderWith(manyTickets(3));
  await start(["inbox.json"], { cwd });
  const [setup] = await database().query<{ hash: string }>("select hash from evaluator.setups");
  const older = createHash("sha256").update(setup?.hash ?? "");
  for (const { id, ...state } of manyTickets(3)) {
    older.update(`${JSON.stringify(id)} ${callKey(setup?.hash ?? "", JSON.stringify(state))}\n`);
  }
  const runs = await database().query("select digest from evaluator.runs");
  expect(runs).toEqual([{ digest: older.digest("base64url") }]);
});
