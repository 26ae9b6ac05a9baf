import { setDefaultCACertificates } from "node:tls";
import { createEvaluator, gatewayTransport } from "../index.ts";
import { emailRequest } from "./email-evaluation.ts";

// A program of its own, because what it looks for would freeze the test as well.
const [baseUrl = "", certificate = ""] = process.argv.slice(2);
setDefaultCACertificates([certificate]);

// As the connections come about, or a little later. With undici's HTTP/2, 32 of 32 runs froze by round 3.
for (let round = 0; round < 30; round += 1) {
  for (const calls of [2, 8, 32]) {
    // A new connection each time: the freeze is one of connections that are new.
    const transport = gatewayTransport({ apiKey: "k", baseUrl, env: {} });
    const evaluator = createEvaluator({ transport, maxRetries: 0 });
    const controller = new AbortController();
    const { signal } = controller;
    const options = round % 2 === 0 ? { signal } : { attemptTimeoutMs: 1 + round };
    const ended = Array.from({ length: calls }, () =>
      evaluator.evaluate(emailRequest, options).catch((error: unknown) => error),
    );
    setTimeout(() => controller.abort(), 2 * round);
    await Promise.all(ended);
    await transport.close?.();
  }
  process.stdout.write(`round ${round + 1}\n`);
}
