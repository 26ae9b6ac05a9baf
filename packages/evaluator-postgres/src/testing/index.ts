export { makeDatabase } from "./make-database.ts";
export { openPglite, type PgliteDatabase } from "./pglite-database.ts";
export { forgetAll } from "./pglite-runs.ts";
export { runSql } from "./run-sql.ts";
export { mayMount, moveTo, smallDisk } from "./small-disk.ts";
