import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "evaluator-kit";
import type { JsonObject } from "evaluator-client";
import { expect, test } from "vitest";
import { type RecordingTransport, recordingTransport, sampleResponse } from "../testing/samples.ts";
import { sampleTicket } from "../testing/tickets/ticket-source.ts";
import {
  folderWith,
  readResults,
  startTickets,
  stoppedClock,
} from "../testing/tickets/start-tickets.ts";

const threeTickets = ["m-1", "m-2", "m-3"].map((id) =>
  sampleTicket({ id, subject: `About ${id}` }),
);

function subjectsOf(transport: RecordingTransport): unknown[] {
  return transport.requests.map(({ state }) => (state as JsonObject)["subject"]);
}

/** A clock that ends waits of ten seconds at once, as that for calls in flight after an interruption. */
const drainedClock: Clock = {
  ...stoppedClock,
  schedule(delayMs, callback) {
    if (delayMs === 10_000) queueMicrotask(callback);
    return () => {};
  },
};

/** Returns the parts of a run that is interrupted while its call is in flight, which never ends. */
function interruptInFlight() {
  const interruption = new AbortController();
  const transport = recordingTransport(() => {
    interruption.abort();
    return new Promise(() => {});
  });
  return { transport, signal: interruption.signal, clock: drainedClock };
}

test("a failed ticket alone is asked again by the next run", async () => {
  const cwd = await folderWith(threeTickets);
  const transport = recordingTransport((index) => (index === 1 ? {} : sampleResponse()));
  await startTickets(["inbox.json"], { cwd, transport });
  const { exitCode } = await startTickets(["inbox.json"], { cwd, transport });
  expect(exitCode).toBe(0);
  expect(subjectsOf(transport)).toEqual(["m-1", "m-2", "m-3", "m-2"].map((id) => `About ${id}`));
});

test("an interruption keeps the answer in flight, asks nothing more and writes no results", async () => {
  const cwd = await folderWith(threeTickets);
  const interruption = new AbortController();
  const transport = recordingTransport((index) => {
    if (index === 1) interruption.abort();
    return sampleResponse();
  });
  const { signal } = interruption;
  const { exitCode, stdout, stderr } = await startTickets(["inbox.json", "--concurrency", "1"], {
    cwd,
    transport,
    signal,
  });
  expect({ exitCode, stdout }).toEqual({ exitCode: 130, stdout: "" });
  expect(stderr).toMatch(/Interrupted; no results written\. 2 of 3 answers are kept; .*\n$/);
  expect(await readdir(cwd)).not.toContain("inbox.tickets.json");

  expect(
    await startTickets(["inbox.json", "--concurrency", "1"], { cwd, transport }),
  ).toMatchObject({ exitCode: 0 });
  expect(subjectsOf(transport)).toEqual(["About m-1", "About m-2", "About m-3"]);
});

test("an interruption ends calls that do not come back in time", async () => {
  const cwd = await folderWith([sampleTicket()]);
  const { exitCode } = await startTickets(["inbox.json"], { cwd, ...interruptInFlight() });
  expect(exitCode).toBe(130);
  const { stderr } = await startTickets(["inbox.json"], { cwd });
  expect(stderr).toContain("1 in flight when a run ended, asked again");
});

test("a call that was in flight counts as asked again only if the maximum cost lets the run ask it", async () => {
  const cwd = await folderWith([sampleTicket()]);
  const words = ["inbox.json", "--price", "1"];
  await startTickets(words, { cwd, ...interruptInFlight() });
  const note = "in flight when a run ended, asked again";
  const again = recordingTransport();
  const capped = await startTickets([...words, "--max-cost", "0.002"], { cwd, transport: again });
  expect(again.requests).toEqual([]);
  expect(capped.stderr).toContain("0 of 1 answers are kept, and 1 record not asked; ");
  expect(capped.stderr).not.toContain(note);
  const raised = await startTickets([...words, "--max-cost", "1"], { cwd, transport: again });
  expect(again.requests).toHaveLength(1);
  expect(raised.stderr).toContain(`1 ${note}`);
});

test("--rate holds without a database too: one request a minute lets no second one begin", async () => {
  const tickets = ["m-1", "m-2"].map((id) => sampleTicket({ id, subject: id }));
  const interruption = new AbortController();
  const transport = recordingTransport(() => {
    interruption.abort();
    return sampleResponse();
  });
  const words = ["inbox.json", "--rate", "1", "--concurrency", "2"];
  const { exitCode } = await startTickets(words, {
    cwd: await folderWith(tickets),
    transport,
    signal: interruption.signal,
    clock: drainedClock,
  });
  expect([exitCode, transport.requests]).toEqual([130, [expect.anything()]]);
});

test("a rerun asks nothing and gives the same bytes", async () => {
  const cwd = await folderWith(threeTickets);
  const transport = recordingTransport((index) => sampleResponse({ importance: index }));
  const first = await startTickets(["inbox.json", "--raw"], { cwd, transport });
  const written = await readFile(join(cwd, "inbox.tickets.json"), "utf8");
  const second = await startTickets(["inbox.json", "--raw"], { cwd, transport });
  expect(second.stdout).toBe(first.stdout);
  expect(await readFile(join(cwd, "inbox.tickets.json"), "utf8")).toBe(written);
  expect(transport.requests).toHaveLength(3);
});

test("a changed question, name or ticket is asked again, and nothing else", async () => {
  const cwd = await folderWith(threeTickets);
  const transport = recordingTransport();
  await startTickets(["inbox.json"], { cwd, transport });
  const changed = [
    sampleTicket({ id: "m-4" }),
    ...threeTickets.slice(1),
    sampleTicket({ id: "m-5" }),
  ];
  await writeFile(join(cwd, "inbox.json"), JSON.stringify(changed));
  await startTickets(["inbox.json"], { cwd, transport });
  expect(transport.requests).toHaveLength(3 + 2);
  expect(await readResults(cwd)).toMatchObject(changed.map(({ id }) => ({ id })));
  await startTickets(["inbox.json"], { cwd, transport, env: { TICKETS_TEAM: "Ada" } });
  expect(transport.requests).toHaveLength(3 + 2 + 4);
});

test("another model or wire is asked again", async () => {
  const cwd = await folderWith([sampleTicket()]);
  const asked: unknown[] = [];
  for (const target of [
    { url: "https://one.example/a", modelId: "m" },
    { url: "https://one.example/a", modelId: "n" },
    { url: "https://two.example/a", modelId: "n" },
    { url: "https://two.example/a", modelId: "n" },
  ]) {
    const transport = { ...recordingTransport(() => asked.push(1) && sampleResponse()), target };
    await startTickets(["inbox.json"], { cwd, transport });
  }
  expect(asked).toHaveLength(3);
});

test("two records with the same words are two requests, and no request more on a rerun", async () => {
  const cwd = await folderWith([sampleTicket({ id: "m-1" }), sampleTicket({ id: "m-2" })]);
  const transport = recordingTransport();
  await startTickets(["inbox.json"], { cwd, transport });
  await startTickets(["inbox.json"], { cwd, transport });
  expect(transport.requests).toHaveLength(2);
});

test("several at once: each answer is kept in any order, and the output keeps the input's", async () => {
  const cwd = await folderWith(threeTickets);
  const transport = recordingTransport((index) => sampleResponse({ importance: index }));
  await startTickets(["inbox.json", "--concurrency", "3"], { cwd, transport });
  expect(transport.mostAtOnce()).toBe(3);
  expect(await readResults(cwd)).toMatchObject(
    threeTickets.map(({ id }, importance) => ({ id, importance })),
  );
});

test("an answer that waits for an earlier one is kept as well", async () => {
  const cwd = await folderWith(threeTickets);
  const interruption = new AbortController();
  const transport = recordingTransport((index) => {
    if (index === 2) interruption.abort();
    return index === 0 ? new Promise(() => {}) : sampleResponse();
  });
  const { signal } = interruption;
  const words = ["inbox.json", "--concurrency", "3"];
  await startTickets(words, { cwd, transport, signal, clock: drainedClock });
  const rerun = recordingTransport();
  await startTickets(words, { cwd, transport: rerun });
  // Only what was cut off in flight.
  expect(subjectsOf(rerun)).toEqual(["About m-1", "About m-3"]);
});
