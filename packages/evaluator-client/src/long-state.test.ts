import { expect, test, vi } from "vitest";
import { createEvaluator } from "./create-evaluator.ts";
import { emailRequest, gatewayBody } from "./testing/email-evaluation.ts";
import { gatewayTransport } from "./transports/gateway/gateway-transport.ts";

test("warns once through the process when there is no logger, and sends the state all the same", async () => {
  const emitWarning = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  const fetch = async () => Response.json(gatewayBody);
  const evaluator = createEvaluator({ transport: gatewayTransport({ apiKey: "a-key", fetch }) });
  await evaluator.evaluate(emailRequest);
  expect(emitWarning).not.toHaveBeenCalled();
  for (let call = 0; call < 3; call += 1) {
    const state = "word ".repeat(40_000);
    const { warnings } = await evaluator.evaluate({ ...emailRequest, state });
    expect(warnings).toEqual([]);
  }
  expect(emitWarning.mock.calls).toEqual([
    [
      expect.stringContaining("32k tokens"),
      { type: "EvaluatorWarning", code: "EVALUATOR_STATE_TOO_LONG" },
    ],
  ]);
});
