import { open as openFile, readFile, rm } from "node:fs/promises";
import { CliError, printable, systemErrorCode, toFileError, writeWholeFile } from "evaluator-kit";
import type { Database } from "evaluator-runs/postgres";
import { findNodeAtLocation, type ParseError, parseTree } from "jsonc-parser";
import { z } from "zod";
import { describeIssue } from "../config/router-config.ts";
import { type StoredKey, storedKeySchema } from "./router-key.ts";

type Keys = readonly StoredKey[];

/** Reads and changes the keys; one change at a time, also between processes. */
type KeyStore = ReturnType<typeof fileStore>;

/** Whether the keys and their spending are in PostgreSQL, for several routers. */
export function isDatabase(address: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(address);
}

/** Opens the store of `ROUTER_KEYS`. Its errors are for people, and hold no address of a database. */
export async function openKeyStore(
  address: string,
  open = async (url: string) => (await import("evaluator-runs/postgres")).openDatabase(url),
): Promise<KeyStore> {
  return isDatabase(address) ? databaseStore(await open(address)) : fileStore(address);
}

function fileStore(path: string) {
  const read = async (): Promise<Keys> => {
    const text = await readFile(path, "utf8").catch((error: unknown) => {
      if (systemErrorCode(error) === "ENOENT") return "[]";
      throw toFileError(error, `read ${path}`, "Check ROUTER_KEYS.");
    });
    return parseKeys(text, path);
  };
  const lock = `${path}.lock`;
  const advice = "Try again. If no other process changes the keys, remove this file.";
  return {
    read,
    async change(edit: (keys: Keys) => Keys) {
      const file = await openFile(lock, "wx").catch((error: unknown) => {
        throw toFileError(error, `write ${lock}`, advice);
      });
      try {
        const options = { mode: 0o600, advice: "The keys are unchanged." };
        await writeWholeFile(path, printKeys(edit(await read())), options);
      } finally {
        await file.close();
        await rm(lock);
      }
    },
    close: async () => {},
  };
}

/** The number of the lock is that of the ledger, which makes the same schema. */
const makeTable = `
  select pg_advisory_xact_lock(1801812339);
  create schema if not exists evaluator_router;
  create table if not exists evaluator_router.keys (document text not null)`;

async function databaseStore(database: Database): Promise<KeyStore> {
  await database.transaction(({ query }) => query(makeTable));
  return {
    read: () => readTable(database.query),
    change: (edit) =>
      database.transaction(async ({ query }) => {
        await query("lock table evaluator_router.keys in exclusive mode");
        const text = printKeys(edit(await readTable(query)));
        await query("delete from evaluator_router.keys");
        await query("insert into evaluator_router.keys values ($1)", [text]);
      }),
    close: () => database.close(),
  };
}

async function readTable(query: Database["query"]): Promise<Keys> {
  const [row] = await query<{ document: string }>("select document from evaluator_router.keys");
  return parseKeys(row?.document ?? "[]", "the keys in PostgreSQL");
}

/** Reads the keys, and reads them again each second. @throws an error for people if they are wrong. */
export async function openLiveKeys(
  address: string,
  warn: (line: string) => void,
  reloadMs = 1000, // a change is seen within two seconds
) {
  const store = await openKeyStore(address);
  let keys = await store.read();
  let problem = "";
  if (keys.length === 0) warn("ROUTER_KEYS: no key yet; evaluator-router keys add makes one.\n");
  /** After an error the old keys stay, and the error is printed once. */
  async function reload(): Promise<void> {
    try {
      keys = await store.read();
      problem = "";
    } catch (error) {
      const message = error instanceof Error ? error.message : "The keys cannot be read.";
      if (message !== problem) warn(`${message} The router goes on with the old keys.\n`);
      problem = message;
    }
  }
  const timer = setInterval(() => void reload(), reloadMs).unref();
  return {
    current: () => keys,
    reload,
    close() {
      clearInterval(timer);
      return store.close();
    },
  };
}

/** Parses the text of a store. @throws CliError with the store, the line and the field, without a value. */
export function parseKeys(text: string, store: string): readonly StoredKey[] {
  const fail = (offset: number, problem: string): never => {
    const line = text.slice(0, offset).split("\n").length;
    throw new CliError(printable`${store}:${String(line)} ${problem}.`);
  };
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { disallowComments: true, allowEmptyContent: false });
  if (root === undefined || errors[0] !== undefined)
    return fail(errors[0]?.offset ?? 0, "is not JSON here");
  const { data, error } = z.array(storedKeySchema).safeParse(JSON.parse(text));
  if (data !== undefined) return data;
  const path = (error.issues[0]?.path ?? []) as (string | number)[];
  const node = findNodeAtLocation(root, path) ?? findNodeAtLocation(root, path.slice(0, 1));
  return fail((node ?? root).offset, describeIssue(error));
}

/** Returns the text of a store, which {@link parseKeys} reads. */
export function printKeys(keys: readonly StoredKey[]): string {
  return `${JSON.stringify(keys, (_, value: unknown) => value ?? undefined, 2)}\n`;
}
