export { DatabaseError, type DatabaseFailure } from "./database-error.ts";
export type { Connection } from "./database.ts";
export { migrate } from "./migrate.ts";
export { postgresLimits } from "./postgres-limits.ts";
