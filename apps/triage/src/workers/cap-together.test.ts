import { ConnectionError } from "evaluator-client";
import { expect, test } from "vitest";
import { recordingTransport, sampleResponse } from "../testing/samples.ts";
import { inbox, machinesOnPglite } from "../testing/machines-on-pglite.ts";
import { folderWith } from "../testing/start-triage.ts";

const { start } = machinesOnPglite();

test("texts of many tokens and calls in flight keep to the cap", async () => {
  const costOf = (request: object) => Buffer.byteLength(JSON.stringify(request)) / 1_000_000;
  const sample = sampleResponse();
  const transport = recordingTransport((index) => {
    // A service that counts each byte as a token, at $1 a million.
    const marketCost = String(costOf(transport.requests[index] ?? {}));
    return { ...sample, providerMetadata: { ...sample.providerMetadata, gateway: { marketCost } } };
  });
  const mails = inbox(20).map((mail) => Object.assign(mail, { snippet: "\u6587".repeat(700) }));
  const cwd = await folderWith(mails);
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
  const cwd = await folderWith(inbox(5));
  const words = ["inbox.json", "--concurrency", "2", "--price", "1", "--max-cost", "0.0025"];
  const transport = { ...recordingTransport(), send };
  await start(words, { cwd, transport, signal: controller.signal });
  expect(asked).toHaveLength(1);
});

test("a worker that knows no price is refused before it asks, if the run has a maximum cost", async () => {
  const cwd = await folderWith(inbox(20));
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
  expect(unpriced.stderr).toContain("Name it with --price USD");
  const { exitCode } = await start(["work", "--run", "1", "--price", "0.1"], { cwd, transport });
  expect([exitCode, transport.requests.length]).toEqual([0, 19]);
});

test("what calls without an answer may have cost stays within the cap when their chunk has ended", async () => {
  let billedUsd = 0;
  const send = async (request: object) => {
    billedUsd += Buffer.byteLength(JSON.stringify(request)) / 1_000_000;
    throw new ConnectionError("Lost.", { maybeBilled: true, isRetryable: false });
  };
  const cwd = await folderWith(inbox(400));
  const words = ["inbox.json", "--concurrency", "8", "--price", "1", "--max-cost", "0.3"];
  const { exitCode } = await start(words, { cwd, transport: { ...recordingTransport(), send } });
  expect([exitCode, billedUsd <= 0.3, billedUsd > 0.15]).toEqual([1, true, true]);
});
