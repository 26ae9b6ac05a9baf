import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { emailRequest, gatewayBody } from "../testing/email-evaluation.ts";
import { httpResponse, servers } from "../testing/socket-server.ts";
import { gatewayTransport } from "../transports/gateway/gateway-transport.ts";

const refusal = httpResponse(429, "{}", { "Retry-After": "1" });
const answer = httpResponse(200, JSON.stringify(gatewayBody));

test.concurrent.each(servers)(
  "%s: refusals of the first and every hundredth request hold no other call up",
  async (_, listen) => {
    await using server = await listen((socket, index) =>
      socket.write(index % 100 === 0 ? refusal : answer),
    );
    const transport = gatewayTransport({ apiKey: "a-key", baseUrl: server.origin, env: {} });
    const waits: string[] = [];
    await using evaluator = createEvaluator({
      transport,
      onWait: ({ reason }) => waits.push(reason),
    });
    const requests = Array.from({ length: 300 }, () => emailRequest);
    const batch = evaluator.evaluateMany(requests, { concurrency: 16 });
    while (!(await batch.next()).done);
    expect(batch.totals).toMatchObject({ succeeded: 300, failed: 0 });
    expect(server.requests).toHaveLength(304);
    // Each refused call waits by itself. A pause for all would be a wait for the rate limit.
    expect(waits).toEqual(["backoff", "backoff", "backoff", "backoff"]);
  },
);
