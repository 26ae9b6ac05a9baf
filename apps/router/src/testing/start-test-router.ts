import { onTestFinished } from "vitest";
import { parseRouterOptions } from "../options/router-options.ts";
import { type RouterParts, startRouter } from "../start-router.ts";
import { keepLogs } from "./keep-logs.ts";
import { keepWire } from "./keep-wire.ts";
import { keepTold, plantedKey } from "./planted-key.ts";
import { servicesOver } from "./services-over.ts";
import { type Differences, testGateway } from "./test-gateway.ts";

/** What a test wants different in a router that listens. */
type RouterDifferences = Partial<RouterParts> & { readonly env?: Record<string, string> };

/**
 * A router on a free port over a {@link testGateway} for the length of a test, with the planted key
 * in its surroundings; it keeps what nobody expected, and all that it tells.
 */
export async function startTestRouter(
  differences: Differences = {},
  { env, ...parts }: RouterDifferences = {},
) {
  const { fetch, seen } = testGateway(differences);
  const defects: Error[] = [];
  const keep = keepTold();
  const router = await startRouter({
    options: parseRouterOptions({ PORT: "0", AI_GATEWAY_API_KEY: plantedKey, ...env }),
    services: { ...servicesOver(fetch), isEmulated: true },
    ...parts,
    reportDefect: (error) => {
      keep(error);
      defects.push(error);
    },
    ...keepLogs(parts, keep),
  });
  let closed: Promise<void> | null = null;
  const close = () => (closed ??= router.close());
  onTestFinished(close);
  const { host, port } = new URL(router.origin);
  keepWire(Number(port), keep);
  return { origin: router.origin, host, close, seen, defects, keep };
}
