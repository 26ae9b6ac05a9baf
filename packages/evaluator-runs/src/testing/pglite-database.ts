import { setFlagsFromString } from "node:v8";
import { PGlite } from "@electric-sql/pglite";
import { dataDir } from "@electric-sql/pglite-prepopulatedfs";
import type { Database, Query, Session } from "../postgres/database.ts";
import type { Cell } from "../store/run-query.ts";
import { toDatabaseError } from "../postgres/database-error.ts";

/** A real PostgreSQL inside this process, with one session. */
export interface PgliteDatabase extends Database {
  readonly pglite: PGlite;
}

// One for all tests of a worker: loading it takes 2 s of processor time, making a cluster 8 s.
let started: Promise<PGlite> | undefined;

// Types from this number on belong to the tables of a database.
const FIRST_ROW_TYPE = 10_000;

// Its 10 MB of WebAssembly are compiled once and not optimized: the tests of triage take a fifth fewer
// instructions.
async function start(): Promise<PGlite> {
  setFlagsFromString("--no-wasm-tier-up");
  setFlagsFromString("--no-wasm-dynamic-tiering");
  const pglite = await PGlite.create({ loadDataDir: await dataDir() });
  // It copies all parsers for each query, and most are for rows of PostgreSQL's own tables.
  for (const type of Object.keys(pglite.parsers).map(Number)) {
    if (type >= FIRST_ROW_TYPE) delete pglite.parsers[type];
  }
  return pglite;
}

/** Returns an empty PostgreSQL in memory. */
export async function openPglite(): Promise<PgliteDatabase> {
  started ??= start();
  const pglite = await started;
  await pglite.exec("discard all");
  await pglite.exec("drop schema if exists evaluator, evaluator_jobs cascade");
  return {
    pglite,
    query: toQuery(pglite),
    connect: async () => ({
      query: toQuery(pglite),
      release: (isBroken) => void (isBroken && pglite.exec("rollback")),
    }),
    transaction: (run) => pglite.transaction((inside) => run(toSession(inside))),
    listen: async (channel, onMessage) => void (await pglite.listen(channel, onMessage)),
    close: async () => {},
  };
}

// PGlite parses these types; they stay texts, as with the server.
const texts = [17, 114, 1082, 1114, 1184, 3802];
const textParsers = Object.fromEntries(texts.map((type) => [type, String]));

function toSession(inside: Pick<PGlite, "query" | "exec">): Session {
  return {
    query: toQuery(inside),
    runOne: async (text, parsers) => {
      const options = { rowMode: "array", parsers: { ...textParsers, ...parsers } } as const;
      return await inside.query<Cell[]>(text, [], options);
    },
  };
}

function toQuery(session: Pick<PGlite, "query" | "exec">): Query {
  return async <TRow extends object>(text: string, values?: unknown[]) => {
    try {
      // Without values, as with pg, there may be several statements.
      const isOne = values !== undefined && values.length > 0;
      if (isOne) return (await session.query<TRow>(text, values)).rows;
      return (await session.exec(text)).flatMap(({ rows }) => rows as TRow[]);
    } catch (error) {
      throw toDatabaseError(error);
    }
  };
}
