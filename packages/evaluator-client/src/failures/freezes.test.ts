import { spawn } from "node:child_process";
import { once } from "node:events";
import { createSecureServer } from "node:http2";
import { fileURLToPath } from "node:url";
import { selfSignedCertificate } from "evaluator-kit";
import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { emailRequest, gatewayBody } from "../testing/email-evaluation.ts";
import { start } from "../testing/http2-server.ts";
import { gatewaysAndServers } from "../testing/private-call.ts";
import { httpResponse } from "../testing/socket-server.ts";

// Long enough for a round on the busiest machine; a frozen program prints nothing for ever.
const SILENCE_MS = 60_000;

test(
  "a program survives calls that are aborted together over TLS with h2 on offer",
  {
    timeout: 600_000,
  },
  async () => {
    const certificate = selfSignedCertificate();
    let h2Sessions = 0;
    const server = createSecureServer({ ...certificate, allowHTTP1: true }, () => undefined);
    server.on("session", () => (h2Sessions += 1));
    const port = await start(server);
    const program = fileURLToPath(new URL("../testing/aborting-program.ts", import.meta.url));
    const argv = [program, `https://127.0.0.1:${port}`, certificate.cert];
    const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
    const kill = () => child.kill("SIGKILL");
    let printed = "";
    let silence = setTimeout(kill, SILENCE_MS);
    child.stdout.on("data", (text) => {
      printed += String(text);
      clearTimeout(silence);
      silence = setTimeout(kill, SILENCE_MS);
    });
    const [exitCode] = (await once(child, "close")) as [number | null];
    clearTimeout(silence);
    expect(printed.trimEnd().split("\n").at(-1)).toBe("round 30");
    expect(exitCode).toBe(0);
    expect(h2Sessions).toBeGreaterThan(0);
  },
);

// Over HTTP/2, each of these ends all calls in flight; `http/http2.test.ts` has its batch.
test.each(gatewaysAndServers.filter(([way]) => !way.endsWith("offers h2")))(
  "%s: a batch loses nothing when its connections are destroyed",
  async (_, transportTo, listen) => {
    const answer = httpResponse(200, JSON.stringify(gatewayBody));
    // Every third request is cut off: before the answer, or in the middle of it.
    await using server = await listen((socket, index) => {
      if (index % 3 !== 0) socket.write(answer);
      else if (index % 2 === 0) socket.resetAndDestroy();
      else socket.write(answer.subarray(0, answer.length / 2), () => socket.destroy());
    });
    const evaluator = createEvaluator(
      { transport: transportTo(server.origin), maxRetries: 20 },
      { random: () => 0 },
    );
    const requests = Array.from({ length: 60 }, () => emailRequest);
    let succeeded = 0;
    for await (const item of evaluator.evaluateMany(requests, { concurrency: 16 })) {
      if (item.status === "succeeded") succeeded += 1;
    }
    expect(succeeded).toBe(60);
    expect(server.requests.length).toBeGreaterThan(60);
  },
);
