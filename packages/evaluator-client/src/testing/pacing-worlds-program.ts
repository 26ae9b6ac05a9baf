import process from "node:process";
import { parseArgs } from "node:util";
import {
  limitWorlds,
  playWorld,
  type Result,
  smallBucketWorlds,
  startWorlds,
  strayWorlds,
} from "./pacing-worlds.ts";

// Plays the worlds of simulation.test.ts with many more seeds, and prints what it saw:
// npm run test:pacing -w packages/evaluator-client -- --seeds 100 --from 1000

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1000" },
    from: { type: "string", default: "1" },
    name: { type: "string", default: "" },
  },
});
const seeds = Array.from(
  { length: Number(values.seeds) },
  (_, index) => index + Number(values.from),
);
const write = (...cells: string[]) => void process.stdout.write(`| ${cells.join(" | ")} |\n`);

function row({ figure, worst, p10, median, mean, worstSeed }: Result): string[] {
  return [figure, ...[worst, p10, median, mean].map((value) => value.toFixed(3)), `${worstSeed}`];
}

const missed: string[] = [];
write("world", "figure", "worst", "p10", "median", "mean", "worst seed");
write(...Array.from({ length: 7 }, () => "---"));
for (const world of [...strayWorlds, ...limitWorlds, ...smallBucketWorlds, ...startWorlds]) {
  if (!world.name.includes(values.name)) continue;
  for (const result of await playWorld(world, seeds)) {
    write(world.name, ...row(result));
    missed.push(...result.missed.map((sentence) => `${world.name}: ${sentence}`));
  }
}
for (const sentence of missed) process.stderr.write(`missed: ${sentence}\n`);
process.exitCode = missed.length === 0 ? 0 : 1;
