import process from "node:process";
import { runProgram } from "evaluator-kit";
import { runSimulation } from "./command.ts";

await runProgram(runSimulation, { name: "The simulation" });
// PGlite never ends its timer.
process.exit();
