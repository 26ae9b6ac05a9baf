import process from "node:process";
import { parseArgs } from "node:util";
import { fitWorlds, noiseWorld, playWorld } from "./fit-worlds.ts";

// Plays the worlds of promise.test.ts with many seeds, and prints the broken promises:
// npm run test:promises -w apps/router -- --rounds 150

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "150" }, from: { type: "string", default: "1" } },
});
const [rounds, from] = [Number(values.rounds), Number(values.from)];
const write = (...cells: unknown[]) => void process.stdout.write(`| ${cells.join(" | ")} |\n`);
const sums = { routed: 0, broken: 0, rounds: 0 };
write("world", "rounds", "route", "quality broken", "saving broken");
write("---", "---", "---", "---", "---");
for (const world of [...fitWorlds, noiseWorld]) {
  const played = Array.from({ length: rounds }, (_, at) => playWorld(world, from + at));
  const routed = played.filter(({ verdict }) => verdict === "route");
  const broken = played.filter(({ isBroken }) => isBroken);
  const count = (name: "keeps" | "saves") => broken.filter((each) => each[name] === false).length;
  write(world.name, rounds, routed.length, count("keeps"), count("saves"));
  const isMissed = world === noiseWorld ? routed.length > 0.05 * rounds : false;
  if (isMissed) process.exitCode = 1;
  if (world === noiseWorld) continue;
  sums.rounds += rounds;
  sums.routed += routed.length;
  sums.broken += broken.length;
}
write("all but noise", sums.rounds, sums.routed, sums.broken, "");
if (sums.broken > 0.05 * sums.rounds) process.exitCode = 1;
