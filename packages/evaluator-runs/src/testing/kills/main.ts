import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { killAgainAndAgain } from "./kill-again-and-again.ts";

// The long form of the test beside the run: 200 kills.
const folder = await mkdtemp(join(tmpdir(), "ticket-kills-"));
const { summaries, ...report } = await killAgainAndAgain(folder, 200);
await rm(folder, { recursive: true, force: true });
process.stdout.write(`${JSON.stringify(report, null, 2)}\n${summaries.at(-1) ?? ""}`);
const isFine =
  report.differences.length === 0 &&
  report.askedAgain >= 0 &&
  report.askedAgain <= report.bound &&
  report.killsWhileAsking > 0;
process.exitCode = isFine ? 0 : 1;
