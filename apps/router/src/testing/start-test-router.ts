import { parseRouterOptions } from "../options/router-options.ts";
import { type RouterParts, type RunningRouter, startRouter } from "../start-router.ts";
import { servicesOver } from "./services-over.ts";
import { type Differences, testGateway } from "./test-gateway.ts";

/** A router on a free port over a {@link testGateway}; it keeps what nobody expected. */
export async function startTestRouter(
  differences: Differences = {},
  { env, ...parts }: Partial<RouterParts> & { env?: Record<string, string> } = {},
) {
  const { fetch, seen } = testGateway(differences);
  const defects: Error[] = [];
  const router: RunningRouter = await startRouter({
    options: parseRouterOptions({ PORT: "0", ...env }),
    services: { ...servicesOver(fetch), isEmulated: true },
    reportDefect: (error) => defects.push(error),
    ...parts,
  });
  return { ...router, seen, defects };
}
