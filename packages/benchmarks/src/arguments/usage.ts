import { targetNames } from "../calls/targets.ts";
import { sectionNames } from "../sections.ts";

/** How the command is typed. */
export const usage = `Usage: npm run bench -- [options]

  --long            measure for long, for figures to quote; a short look when not given
  --only A,B        only these parts: ${sectionNames.join(", ")}
  --targets A,B     only these ways to ask, in calls:
                    ${targetNames.join("\n                    ")}
  --client FOLDER   measure the SDK of another checkout: its packages/evaluator-client
  --against FOLDER  measure the SDK of another checkout as well, where calls are compared
  --profile FOLDER  leave a CPU profile of each asking process there
  --out FILE        write all figures there as JSON; packages/benchmarks/reports/benchmark.json
                    when not given
  --help            print this
`;
