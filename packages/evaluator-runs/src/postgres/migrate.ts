import { ChunkQueue } from "./chunk-queue.ts";
import { DatabaseError } from "./database-error.ts";
import { type Connection, type Database, openDatabase, type Query } from "./database.ts";
import { migrations } from "./schema.ts";

// The oldest version that the PostgreSQL project supported in 2025.
const OLDEST_SERVER = 13;
// Any number that no other program on the database locks: "eval" in ASCII.
const MIGRATION_LOCK = 0x65_76_61_6c;

/**
 * Makes or upgrades the schemas `evaluator` and `evaluator_jobs`; `postgresLimits` and `postgresRuns` do
 * this themselves if their role may.
 *
 * @throws DatabaseError
 */
export async function migrate(connection: Connection): Promise<void> {
  const database = openDatabase(connection);
  try {
    await migrateDatabase(database);
    const queue = await ChunkQueue.open(database);
    await queue.close();
  } finally {
    await database.close();
  }
}

/** Makes or upgrades the schema in one transaction under a lock; writes nothing if it is up to date. */
export async function migrateDatabase(database: Database): Promise<void> {
  await checkServer(database.query);
  const found = await readVersion(database.query);
  if (found === migrations.length) return;
  const migrating = database.transaction(async ({ query }) => {
    await query(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    const version = await readVersion(query);
    if (version === null) await makeSchema(query);
    for (const migration of migrations.slice(version ?? 0)) await query(migration);
    await query(`update evaluator.schema_version set version = ${migrations.length}`);
  });
  await migrating.catch((error: unknown) => {
    throw found !== null && error instanceof DatabaseError ? toUpgradeError(error, found) : error;
  });
}

/** Returns the error of a role that may not upgrade the schema, such as one that only reads. */
function toUpgradeError(error: DatabaseError, version: number): DatabaseError {
  const { failure, code } = error;
  if (failure !== "denied" && failure !== "read-only") return error;
  return new DatabaseError(
    `The schema evaluator has version ${version}, this program needs version ${migrations.length}, and this user may not upgrade it. Run a command of this version once as the user that owns the schema, then try again.`,
    { failure, code },
  );
}

async function checkServer(query: Query): Promise<void> {
  const [row] = await query<{ version: string }>(
    "select current_setting('server_version_num') as version",
  );
  const version = Math.floor(Number(row?.version) / 10_000);
  if (version >= OLDEST_SERVER) return;
  throw new DatabaseError(
    `PostgreSQL ${version} is too old: ${OLDEST_SERVER} or newer is needed. Upgrade the server, or connect to another.`,
    { failure: "too-old" },
  );
}

/** Returns the schema's version, or null without a schema. */
async function readVersion(query: Query): Promise<number | null> {
  const [table] = await query<{ found: boolean }>(
    // Not to_regclass, which may still see the state before the wait for the lock.
    "select exists (select from pg_catalog.pg_tables where schemaname = 'evaluator' and tablename = 'schema_version') as found",
  );
  if (table?.found !== true) return null;
  const [row] = await query<{ version: number }>("select version from evaluator.schema_version");
  const version = row?.version ?? 0;
  if (version <= migrations.length) return version;
  throw new DatabaseError(
    `The schema evaluator has version ${version}, and this program knows none after ${migrations.length}. Upgrade evaluator-runs here, or use another database.`,
    { failure: "newer-schema" },
  );
}

async function makeSchema(query: Query): Promise<void> {
  // A role that may not create schemas may own an existing one.
  const [schema] = await query<{ found: boolean }>(
    "select exists (select from pg_catalog.pg_namespace where nspname = 'evaluator') as found",
  );
  if (schema?.found !== true) await query("create schema evaluator");
  await query("create table evaluator.schema_version (version integer not null)");
  await query("insert into evaluator.schema_version values (0)");
}
