import process from "node:process";

// Loaded into a measured program: tells the parent how much processor time it has used whenever it
// is asked, and all it used when it ends.

process.on("message", () => process.send?.(process.cpuUsage()));
process.once("exit", () => process.send?.(process.resourceUsage()));
process.channel?.unref(); // the program ends as it does without a parent
