import { expect, test } from "vitest";
import { createEvaluator } from "./create-evaluator.ts";
import { emailRequest, gatewayBody } from "./testing/email-evaluation.ts";
import { gatewayTransport } from "./transports/gateway/gateway-transport.ts";
import type { Transport } from "./transports/transport.ts";

/** An evaluator whose answers a test gives by hand, and what happened to its transport. */
function answersByHand() {
  const open: (() => void)[] = [];
  const closed: number[] = [];
  const gateway = gatewayTransport({
    apiKey: "a-key",
    fetch: async () => {
      await new Promise<void>((resolve) => open.push(resolve));
      return Response.json(gatewayBody);
    },
  });
  const transport: Transport = {
    ...gateway,
    close: async () => void closed.push(open.length),
  };
  return { evaluator: createEvaluator({ transport }), open, closed };
}

const closedError = { name: "ConfigurationError", message: expect.stringContaining("is closed") };

test("rejects calls and batches once it is closed", async () => {
  const { evaluator, open } = answersByHand();
  await evaluator.close();
  await expect(evaluator.evaluate(emailRequest)).rejects.toMatchObject(closedError);
  expect(() => evaluator.evaluateMany([emailRequest])).toThrow(
    expect.objectContaining(closedError),
  );
  expect(open).toHaveLength(0);
});

test("lets calls in flight end before it closes the transport, once", async () => {
  const { evaluator, open, closed } = answersByHand();
  const call = evaluator.evaluate(emailRequest);
  await expect.poll(() => open.length).toBe(1);
  const closing = [evaluator.close(), evaluator.close()];
  await Promise.resolve();
  expect(closed).toEqual([]);
  open[0]?.();
  expect(await call).toMatchObject({ answers: gatewayBody.answers });
  await Promise.all(closing);
  expect(closed).toEqual([1]);
});

test("ends a batch with that error, after the outcomes in flight", async () => {
  const { evaluator, open } = answersByHand();
  function* endless() {
    for (;;) yield emailRequest;
  }
  const batch = evaluator.evaluateMany(endless(), { concurrency: 1 });
  const first = batch.next();
  await expect.poll(() => open.length).toBe(1);
  const closing = evaluator.close();
  open[0]?.();
  expect(await first).toMatchObject({ value: { index: 0, status: "succeeded" } });
  await expect(batch.next()).rejects.toMatchObject(closedError);
  await closing;
  expect(open).toHaveLength(1);
});

test("closes at the end of a block", async () => {
  const { evaluator, closed } = answersByHand();
  {
    await using held = evaluator;
    expect(held).toBe(evaluator);
  }
  expect(closed).toEqual([0]);
  await expect(evaluator.evaluate(emailRequest)).rejects.toMatchObject(closedError);
});
