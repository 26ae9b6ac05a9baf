import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { compileCache } from "evaluator-kit/testing";
import mail from "evaluator-fixtures/exchanges/gateway/consent-alert-first-of-thread.json" with { type: "json" };
import { beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { buildClient } from "../client-build.ts";
import { mailState, sampleExchanges } from "../sample-requests.ts";
import { type Child, startChild } from "evaluator-kit/child";
import { cannedReplies, createCannedServer } from "../process/canned-server.ts";
import { type BenchmarkServer, startServer } from "../process/start-servers.ts";
import type { AskingService } from "./asking-process.ts";
import { type TargetName, targets } from "../targets.ts";

const targetNames = Object.keys(targets) as TargetName[];

let client: Awaited<ReturnType<typeof buildClient>>;
let server: BenchmarkServer;
let child: Child<AskingService>;

beforeAll(async () => {
  client = await buildClient();
  server = await startServer();
  child = startChild(new URL("asking-process.ts", import.meta.url), [], compileCache);
  return async () => {
    await child.close();
    await server[Symbol.asyncDispose]();
    await client[Symbol.asyncDispose]();
  };
});
beforeEach(() => server.answer(sampleExchanges.mail));

/** Lets a target ask a few times, in a process beside this one as in a measurement, but one for all. */
async function askSome(target: TargetName, addresses = server.addresses) {
  await child.ask("setUp", { target, addresses, clientFolder: client.folder });
  return child.ask("run", { concurrency: 2, maxCalls: 4 });
}

test.each(targetNames)("%s gets the answers that the server gives", async (target) => {
  expect(await askSome(target)).toMatchObject({ calls: 4 });
  expect(await server.takeCounts()).toMatchObject({ requests: 4 });
});

test.each(targetNames)("%s does not take other answers for good ones", async (target) => {
  await server.answer("self-sent-reminder-looks-like-scam");
  await expect(askSome(target)).rejects.toThrow('Not the answer expected to "category"');
});

test.each(targetNames)("%s does not take an error for an answer", async (target) => {
  const { gateway, direct } = server.addresses;
  const nowhere = { gateway: `${gateway}/nowhere`, direct: `${direct}/nowhere` };
  await expect(askSome(target, nowhere)).rejects.toThrow(/404|not found/i);
});

test.each(targetNames)("%s sends the same state and questions as the others", async (target) => {
  const { addresses, received } = await startListener();
  await askSome(target, addresses);
  const expected = [1, 2, 3, 4].map((number) => ({
    state: mailState(number),
    questions: mail.request.body.questions,
  }));
  expect(received.map(askedIn)).toEqual(expect.arrayContaining(expected));
});

interface Received {
  readonly methodAndPath: string;
  readonly body: string;
}

/** A server that keeps what it receives. */
async function startListener() {
  const replies = await cannedReplies(sampleExchanges.mail);
  const received: Received[] = [];
  const listener = createCannedServer((methodAndPath, body, send) => {
    received.push({ methodAndPath, body: body.toString() });
    send(replies.get(methodAndPath) ?? null);
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  onTestFinished(() => void listener.close());
  const origin = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  return { addresses: { gateway: `${origin}/v4/ai`, direct: origin }, received };
}

/** What a body asks, in the words of the contract's wire. */
function askedIn({ methodAndPath, body }: Received): object {
  const isVendors = methodAndPath.endsWith("/v1/systemone");
  const text = isVendors ? body.replaceAll('"type":"noul"', '"type":"boolean"') : body;
  if (isVendors === (text === body)) throw new Error(`Not the words of the wire: ${body}`);
  const { state, stateParts, questions } = JSON.parse(text) as {
    state?: unknown;
    stateParts?: { value: unknown }[];
    questions: unknown;
  };
  return { state: state ?? stateParts?.[0]?.value, questions };
}
