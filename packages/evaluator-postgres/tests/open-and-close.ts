import process from "node:process";
import { postgresLimits } from "evaluator-postgres";

// A whole program: a store that is closed at its end, and nothing else that keeps it alive.
await using store = await postgresLimits(process.argv[2] ?? "");
const limits = { requestsPerMinute: 60 };
const lease = { key: "program", member: "program", requests: 1, tokens: 0, limits };
process.stdout.write(`${(await store.lease(lease)).members}\n`);
