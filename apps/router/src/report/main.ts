import process from "node:process";
import { describeStartFailure } from "../describe-start-failure.ts";
import { describeSummary } from "./describe-summary.ts";
import { readRecords } from "./read-records.ts";
import { reportPath } from "./report-path.ts";
import { summarize } from "./summary.ts";

try {
  const path = reportPath(process.argv.slice(2), process.env);
  process.stdout.write(describeSummary(await summarize(readRecords(path))));
} catch (error) {
  process.stderr.write(describeStartFailure(error));
  process.exitCode = 1;
}
