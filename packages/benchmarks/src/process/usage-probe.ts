import { writeSync } from "node:fs";
import process from "node:process";

// Loaded into a program that is measured from start to end: writes to a pipe of its own what was used.
// Loads nothing that would be measured as well.

const PIPE = 3;
process.once("exit", () => writeSync(PIPE, JSON.stringify(process.resourceUsage())));
