import process from "node:process";
import { parseArgs } from "node:util";
import { checkWorlds, playChecks } from "./check-worlds.ts";
import { playDrift } from "./drift-worlds.ts";
import { clusterWorlds, playClusters } from "./cluster-worlds.ts";
import { costWorlds, playCosts } from "./cost-worlds.ts";
import { intervalWorlds, playIntervals, shareWorlds } from "./interval-worlds.ts";
import { exactWorlds, playRounds, playTurns, promiseWorlds, turnWorlds } from "./promise-worlds.ts";
import { playVerdicts, verdictWorlds } from "./verdict-worlds.ts";

// Plays the worlds of promise-worlds.test.ts, check-threshold.test.ts and compare-releases.test.ts with many more rounds, and prints what it saw:
// npm run test:promises -w packages/evaluator-calibration -- --rounds 1000
// Of three processes, each plays a third of the worlds: --part 1/3, --part 2/3, --part 3/3. --name TEXT plays those whose name has TEXT.

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "1000" },
    part: { type: "string", default: "1/1" },
    name: { type: "string", default: "" },
  },
});
const [part = Number.NaN, parts = Number.NaN] = values.part.split("/").map(Number);
if (!(part >= 1 && part <= parts)) {
  throw new Error(
    `--part is not a part: "${values.part}". Use the first of three, such as --part 1/3.`,
  );
}
let count = 0;
/** Returns whether this process plays a world; worlds that take long are beside each other. */
const isPlayed = ({ name }: { readonly name: string }) =>
  name.includes(values.name) && (count += 1) % parts === part % parts;
const share = (value: number) => `${(100 * value).toFixed(1)} %`;
const write = (...cells: string[]) => void process.stdout.write(`| ${cells.join(" | ")} |\n`);
write("world", "median labels", "promised", "broken at any look");
write("---", "---", "---", "---");
for (const world of [...promiseWorlds, ...exactWorlds].filter(isPlayed)) {
  const { median, promised, broken } = playRounds(world, Number(values.rounds));
  write(world.name, `${median}`, share(promised), share(broken));
  if (broken <= 0.05 && median <= (world.medianLabels ?? Infinity)) continue;
  process.stderr.write(`missed: ${world.name}\n`);
  process.exitCode = 1;
}
process.stdout.write("\n");
write("world of checks", "false", "limit", "");
write("---", "---", "---", "---");
const drifts = [60, 300, 2000].map((n) => ({
  name: `two samples of ${n} answers, most of them 0, are called changed`,
  limit: 0.05,
  play: (rounds: number) => playDrift({ n, raised: 0 }, rounds),
}));
const checks = checkWorlds.map((world) => ({
  name: world.name,
  limit: world.limit,
  play: (rounds: number) => playChecks(world, rounds),
}));
const intervals = intervalWorlds.map((world) => ({
  name: `a 95 % interval of ${world.n} labels misses: ${world.name}`,
  // An approximate interval may miss a little more often.
  limit: 0.08,
  play: (rounds: number) => playIntervals(world, rounds).missed,
}));
const shares = shareWorlds.map((world) => ({
  name: `a 95 % interval of ${world.n} labels misses: ${world.name}`,
  // 5 %, and two standard errors of so many rounds.
  limit: 0.05 + 2 * Math.sqrt((0.05 * 0.95) / Number(values.rounds)),
  play: (rounds: number) => playIntervals(world, rounds).missed,
}));
const costs = costWorlds.map((world) => ({
  name: `the printed cost of 200 labels is below the truth by: ${world.name}`,
  limit: 0.06,
  play: (rounds: number) => Math.max(0, playCosts(world, { n: 200, rounds }).below),
}));
const clusters = clusterWorlds.map((world) => ({
  name: `promises of records are broken: ${world.name}`,
  limit: 0.05,
  // A round takes 0.15 s.
  play: (rounds: number) => playClusters(world, Math.min(rounds, 200)).broken,
}));
const turns = turnWorlds.map((world) => ({
  name: world.name,
  limit: world.limit,
  play: (rounds: number) => playTurns(world, rounds),
}));
const verdicts = verdictWorlds.map((world) => ({
  name: `${world.labels} labels ${world.isPicked ? "by pick" : "at random"} call a judge ${world.isUseful ? "worthless" : "useful"}: ${world.name}`,
  limit: world.limit,
  play: (rounds: number) => playVerdicts(world, rounds),
}));
const others = [
  ...checks,
  ...turns,
  ...verdicts,
  ...drifts,
  ...intervals,
  ...shares,
  ...costs,
  ...clusters,
];
for (const { name, limit, play } of others.filter(isPlayed)) {
  const found = play(Number(values.rounds));
  write(name, share(found), share(limit), "");
  if (found <= limit) continue;
  process.stderr.write(`missed: ${name}\n`);
  process.exitCode = 1;
}
