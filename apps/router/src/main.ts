#!/usr/bin/env node
import { runProgram } from "evaluator-kit";
import { evaluatorRouter } from "./program.ts";

await runProgram(...evaluatorRouter);
