import { runProgram } from "evaluator-kit";
import { runSimulation } from "./command.ts";

await runProgram(runSimulation, { name: "The simulation" });
