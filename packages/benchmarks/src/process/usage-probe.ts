import process from "node:process";

// Loaded into the router's process: tells the parent how much processor time the process has used.

process.on("message", () => process.send?.(process.cpuUsage()));
process.channel?.unref(); // the router ends as it does without a parent
