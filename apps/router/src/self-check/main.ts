import process from "node:process";
import { describeDefect } from "../describe-defect.ts";
import { describeStartFailure } from "../describe-start-failure.ts";
import { runSelfCheck } from "./run-self-check.ts";
import { selfCheckOptions } from "./self-check-options.ts";

try {
  const options = selfCheckOptions(process.argv.slice(2), process.env);
  const passed = await runSelfCheck(options, {
    write: (text) => process.stdout.write(text),
    reportDefect: (error) => process.stderr.write(describeDefect(error)),
  });
  process.exitCode = passed ? 0 : 1;
} catch (error) {
  process.stderr.write(describeStartFailure(error));
  process.exitCode = 1;
}
