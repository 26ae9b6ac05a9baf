#!/usr/bin/env node
import { runProgram } from "evaluator-kit";
import { runEvaluator } from "./run-evaluator.ts";

await runProgram(runEvaluator, { name: "The evaluator" });
