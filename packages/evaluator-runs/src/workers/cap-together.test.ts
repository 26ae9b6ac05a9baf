import { ConnectionError } from "evaluator-client";
import { expect, test } from "vitest";
import { recordingTransport, sampleResponse } from "../testing/samples.ts";
import { ticketMachines } from "../testing/tickets/start-tickets.ts";
import { manyTickets } from "../testing/tickets/ticket-source.ts";
import { folderWith } from "../testing/tickets/start-tickets.ts";

const { start } = ticketMachines();

test("texts of many tokens and calls in flight keep to the cap", async () => {
  const costOf = (request: object) => Buffer.byteLength(JSON.stringify(request)) / 1_000_000;
  const sample = sampleResponse();
  const transport = recordingTransport((index) => {
    // A service that counts each byte as a token, at $1 a million.
    const marketCost = String(costOf(transport.requests[index] ?? {}));
    return { ...sample, providerMetadata: { ...sample.providerMetadata, gateway: { marketCost } } };
  });
  const tickets = manyTickets(20).map((ticket) =>
    Object.assign(ticket, { text: "\u6587".repeat(700) }),
  );
  const cwd = await folderWith(tickets);
  const words = ["inbox.json", "--concurrency", "8", "--price", "1", "--max-cost", "0.02"];
  const { exitCode } = await start(words, { cwd, transport });
  const spentUsd = transport.requests.reduce((sum, request) => sum + costOf(request), 0);
  expect([exitCode, spentUsd <= 0.02, transport.requests.length > 2]).toEqual([1, true, true]);
});

test("a call that waited for money is not begun after the run was stopped", async () => {
  const asked: object[] = [];
  const controller = new AbortController();
  const send = async (request: object) => {
    asked.push(request);
    await Promise.resolve();
    controller.abort();
    return { response: sampleResponse(), modelId: null, requestId: null, raw: null };
  };
  const cwd = await folderWith(manyTickets(5));
  const words = ["inbox.json", "--concurrency", "2", "--price", "1", "--max-cost", "0.0016"];
  const transport = { ...recordingTransport(), send };
  await start(words, { cwd, transport, signal: controller.signal });
  expect(asked).toHaveLength(1);
});

test("a worker that knows no price is refused before it asks, if the run has a maximum cost", async () => {
  const cwd = await folderWith(manyTickets(20));
  const controller = new AbortController();
  const first = {
    ...recordingTransport(() => (controller.abort(), sampleResponse())),
    name: "own",
  };
  const words = ["inbox.json", "--concurrency", "1", "--price", "1", "--max-cost", "0.02"];
  await start(words, { cwd, transport: first, signal: controller.signal });
  const transport = { ...recordingTransport(), name: "own" };
  const unpriced = await start(["work", "--run", "1"], { cwd, transport });
  expect([unpriced.exitCode, transport.requests.length]).toEqual([1, 0]);
  expect(unpriced.stderr).toContain("Set --price USD");
  const { exitCode } = await start(["work", "--run", "1", "--price", "0.1"], { cwd, transport });
  expect([exitCode, transport.requests.length]).toEqual([0, 19]);
});

/** A service that charges a dollar for a million bytes, and whose replies are lost. */
function losingTransport() {
  const billed = { usd: 0, calls: 0 };
  const send = async (request: object) => {
    billed.usd += Buffer.byteLength(JSON.stringify(request)) / 1_000_000;
    billed.calls += 1;
    throw new ConnectionError("Lost.", { maybeBilled: true, isRetryable: false });
  };
  return { transport: { ...recordingTransport(), send }, billed };
}

test("what calls without an answer may have cost stays within the cap when their chunk or their worker has ended", async () => {
  const { transport, billed } = losingTransport();
  const cwd = await folderWith(manyTickets(400));
  const words = ["inbox.json", "--concurrency", "8", "--price", "1"];
  const first = await start([...words, "--max-cost", "0.3"], { cwd, transport });
  expect([first.exitCode, billed.usd <= 0.3, billed.usd > 0.15]).toEqual([1, true, true]);
  // The same command, and one without a cap, which leaves that of the run.
  for (const again of [[...words, "--max-cost", "0.3"], words]) {
    const { exitCode, stderr } = await start(again, { cwd, transport });
    expect([exitCode, billed.usd <= 0.3]).toEqual([1, true]);
    expect(stderr).toContain("costs more than --max-cost 0.3");
  }
  const { stdout } = await start(["status"], { cwd });
  expect(stdout).toMatch(/Run 1 cost \$0\.00 and at most \$0\.\d+ for calls without a kept answer/);
  await start([...words, "--max-cost", "0.4"], { cwd, transport });
  expect([billed.usd <= 0.4, billed.usd > 0.25]).toEqual([true, true]);
});

test("a run whose service tells no cost, and no list a price, has no known cost", async () => {
  const { usage: _, ...sample } = sampleResponse();
  const response = { ...sample, providerMetadata: {} };
  const transport = { ...recordingTransport(() => response), name: "own" };
  const cwd = await folderWith(manyTickets(3));
  const { exitCode, stderr } = await start(["inbox.json", "--concurrency", "1"], {
    cwd,
    transport,
  });
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining("no known price")]);
  const { stdout } = await start(["status"], { cwd });
  expect(stdout).toContain("no known price");
});

/** Only waits below half a second pass: those between attempts, and none of a worker. */
const shortWaits = {
  now: () => 0,
  epochNow: () => 0,
  schedule(delayMs: number, callback: () => void) {
    if (delayMs >= 500) return () => {};
    const timer = setImmediate(callback);
    return () => clearImmediate(timer);
  },
};

test("a lost call that may not be tried again within the cap is not failed but left for a higher one", async () => {
  let sent = 0;
  const send = async (request: object) => {
    sent += 1;
    if (sent <= 3) throw new ConnectionError("Lost.", { maybeBilled: true, isRetryable: true });
    const marketCost = String(Buffer.byteLength(JSON.stringify(request)) / 1_000_000);
    const response = { ...sampleResponse(), providerMetadata: { gateway: { marketCost } } };
    return { response, modelId: null, requestId: null, raw: null };
  };
  const transport = { ...recordingTransport(), send };
  const cwd = await folderWith(manyTickets(2));
  const words = ["inbox.json", "--concurrency", "2", "--price", "1"];
  const first = await start([...words, "--max-cost", "0.005"], {
    cwd,
    transport,
    clock: shortWaits,
  });
  expect([first.exitCode, first.stderr.includes("failed")]).toEqual([1, false]);
  const second = await start([...words, "--max-cost", "1"], { cwd, transport, clock: shortWaits });
  expect(second.exitCode).toBe(0);
});
