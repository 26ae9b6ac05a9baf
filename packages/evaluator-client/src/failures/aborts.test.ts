import { getEventListeners } from "node:events";
import type { Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { emailRequest } from "../testing/email-evaluation.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { waysAndServers } from "../testing/private-call.ts";
import { httpResponse } from "../testing/socket-server.ts";

const reason = { why: "enough" };
const limited = httpResponse(429, "{}", { "Retry-After": "60" });

const inFlight: [string, (socket: Socket) => void][] = [
  ["before the head", () => undefined],
  ["in the head", (socket) => socket.write("HTTP/1.1 200 OK\r\nContent-")],
  ["in the body", (socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{")],
];
const waiting: [string, (socket: Socket) => void][] = [
  ["a backoff", (socket) => socket.resetAndDestroy()],
  ["the wait after a stray refusal", (socket) => socket.write(limited)],
];

describe.each(waysAndServers)("%s", (way, transportTo, listen) => {
  /** An evaluator over this way to a server, on a clock that stands still. */
  async function connect(respond: (socket: Socket) => void) {
    const answered = Promise.withResolvers<void>();
    const waits = Promise.withResolvers<string>();
    const server = await listen((socket) => {
      respond(socket);
      answered.resolve();
    });
    onTestFinished(() => server[Symbol.asyncDispose]());
    const clock = new ManualClock();
    const transport = transportTo(server.origin);
    const paused = Promise.withResolvers<void>();
    const onWait = ({ reason }: { reason: string }) => {
      waits.resolve(reason);
      if (reason === "rate-limit") paused.resolve();
    };
    const evaluator = createEvaluator({ transport, onWait }, { clock, random: () => 1 });
    const controller = new AbortController();
    const { signal } = controller;
    const evaluate = () =>
      evaluator.evaluate(emailRequest, { signal }).catch((thrown: unknown) => thrown);
    return { server, clock, controller, evaluate, answered, waits, paused };
  }

  /** Checks that nothing listens or waits any more, and that time sends nothing more. */
  async function expectNothingLeft(
    { server, clock, controller }: Awaited<ReturnType<typeof connect>>,
    requests: number,
  ) {
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
    expect(clock.waiting).toBe(0);
    await clock.advance(600_000);
    expect(server.requests).toHaveLength(requests);
  }

  test.each(inFlight)("an abort %s settles at once and leaves nothing", async (_name, respond) => {
    const call = await connect(respond);
    const outcome = call.evaluate();
    await call.answered.promise;
    for (let turn = 0; turn < 20; turn += 1) await setImmediate();
    call.controller.abort(reason);
    expect(await outcome).toBe(reason);
    await expectNothingLeft(call, 1);
  });

  test.each(waiting)(
    "an abort in %s settles at once and leaves nothing",
    async (_wait, respond) => {
      const call = await connect(respond);
      const outcome = call.evaluate();
      expect(await call.waits.promise).toBe("backoff");
      await setImmediate();
      call.controller.abort(reason);
      expect(await outcome).toBe(reason);
      await expectNothingLeft(call, 1);
    },
  );

  test("an abort ends calls that wait for a pause of all, sent before or not", async () => {
    const call = await connect((socket) => socket.write(limited));
    const first = Array.from({ length: 4 }, call.evaluate);
    await call.paused.promise;
    const others = [call.evaluate(), call.evaluate()];
    call.controller.abort(reason);
    const outcomes = await Promise.all([...first, ...others]);
    expect(outcomes.every((outcome) => outcome === reason)).toBe(true);
    await expectNothingLeft(call, 4);
  });

  test("an abort before the call sends nothing", async () => {
    const call = await connect(() => undefined);
    call.controller.abort(reason);
    expect(await call.evaluate()).toBe(reason);
    await expectNothingLeft(call, 0);
    expect(call.server.connections).toBe(0);
  });

  test("a call that ends by itself leaves nothing behind either", async () => {
    const call = await connect((socket) => socket.write(httpResponse(200, "{}")));
    expect(await call.evaluate()).toMatchObject(
      way.startsWith("logprobs") ? { name: "ConfigurationError" } : { rule: "body-shape" },
    );
    await expectNothingLeft(call, 1);
  });
});
