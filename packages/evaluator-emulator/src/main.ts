#!/usr/bin/env node
import { runProgram } from "evaluator-cli-kit";
import { runEmulator } from "./program.ts";

await runProgram(runEmulator, { name: "The emulator" });
