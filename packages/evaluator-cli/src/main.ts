#!/usr/bin/env node
import process from "node:process";
import { runProgram } from "evaluator-kit";
import { runEvaluator } from "./run-evaluator.ts";

// The words may hold the password of a database, and every user of the machine can list processes.
process.title = "evaluator-cli";

await runProgram(runEvaluator, { name: "The evaluator" });
