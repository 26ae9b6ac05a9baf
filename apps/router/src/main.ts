import process from "node:process";
import { describeDefect } from "./describe-defect.ts";
import { describeStartFailure } from "./describe-start-failure.ts";
import { parseRouterOptions } from "./router-options.ts";
import { connectServices } from "./services/connect-services.ts";
import { startRouter } from "./start-router.ts";

const reportDefect = (error: Error) => process.stderr.write(describeDefect(error));

try {
  const options = parseRouterOptions(process.env);
  const services = connectServices(options.gateway);
  const router = await startRouter({ options, services, reportDefect });
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void router.close());
  process.stdout.write(`The router is at ${router.origin}\n${services.notice}\n`);
} catch (error) {
  process.stderr.write(describeStartFailure(error));
  process.exitCode = 1;
}
