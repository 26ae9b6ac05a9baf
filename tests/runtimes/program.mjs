import process from "node:process";
import { evaluateHere } from "./evaluate.mjs";

process.stdout.write(`${JSON.stringify(await evaluateHere(process.argv.at(-1)))}\n`);
process.exit();
