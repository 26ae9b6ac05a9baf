#!/usr/bin/env node
import { runProgram } from "evaluator-kit";
import { runEmulator } from "./program.ts";

await runProgram((words, context) => runEmulator(words, context), { name: "The emulator" });
