import { existsSync } from "node:fs";
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { EvaluatorError } from "evaluator-client";
import {
  CliError,
  isDatabaseUrl,
  printable,
  systemErrorCode,
  toFileError,
  writeWholeFile,
} from "evaluator-kit";
import { findNodeAtLocation, type ParseError, parseTree } from "jsonc-parser";
import { listOf } from "../config/fields.ts";
import { describeIssue } from "../config/router-config.ts";
import { changeText, openPostgresTable, readText } from "./key-database.ts";
import { type StoredKey, storedKeySchema } from "./router-key.ts";

type Keys = readonly StoredKey[];

const IN_POSTGRES = "the keys in PostgreSQL";
const NAMED = "ROUTER_KEYS names it.";
const NO_FOLDER = "ROUTER_KEYS names it, and its folder does not exist.";
const notStore =
  "ROUTER_KEYS is neither a file nor the address of a PostgreSQL database, such as router-keys.json or postgres://user:password@host:5432/database.";

/** Reads and changes the keys; one change at a time, also between processes. */
interface KeyStore {
  /** Null if no key was ever added. */
  readonly read: () => Promise<Keys | null>;
  readonly change: (editKeys: (storedKeys: Keys) => Keys) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Opens the store of `ROUTER_KEYS`. Its errors are for people, and hold no address of a database. */
export async function openKeyStore(
  address: string,
  openTable?: Parameters<typeof openPostgresTable>[2],
): Promise<KeyStore> {
  if (isDatabaseUrl(address)) return await databaseStore(address, openTable);
  if (address.includes("://")) throw new CliError(notStore);
  return fileStore(address);
}

async function databaseStore(...[address, openTable]: Parameters<typeof openKeyStore>) {
  const textTable = await openPostgresTable("keys", address, openTable).catch(nameVariable);
  return {
    read: async () => {
      const { text } = await readText(textTable, "keys").catch(nameVariable);
      return parseKeys(text, IN_POSTGRES);
    },
    change: (editKeys: (storedKeys: Keys) => Keys) =>
      changeText(textTable, "keys", (storedText) => {
        return [printKeys(editKeys(parseKeys(storedText, IN_POSTGRES) ?? [])), undefined];
      }).catch(nameVariable),
    close: textTable.close,
  };
}

/** A database's error has neither its address nor the setting that names it. */
function nameVariable(cause: unknown): never {
  if (!(cause instanceof EvaluatorError)) throw cause;
  throw new CliError(`ROUTER_KEYS: ${cause.message}`, { cause });
}

function fileStore(path: string): KeyStore {
  const read = async () => {
    const storedText = await readFile(path, "utf8").catch((error: unknown) => {
      const isMissing = systemErrorCode(error) === "ENOENT";
      if (isMissing && existsSync(dirname(path))) return null; // no key was added yet
      throw toFileError(error, `read ${path}`, isMissing ? NO_FOLDER : NAMED);
    });
    return parseKeys(storedText, `ROUTER_KEYS=${path}`);
  };
  const lock = `${path}.lock`;
  return {
    read,
    async change(edit) {
      const { mtimeMs = Infinity } = (await stat(lock).catch(() => null)) ?? {};
      // A change takes milliseconds: its process was killed.
      if (Date.now() - mtimeMs > 10_000) await rm(lock, { force: true });
      await writeFile(lock, "", { flag: "wx" }).catch((error: unknown) => {
        if (systemErrorCode(error) !== "EEXIST") throw toFileError(error, `write ${path}`, NAMED);
        throw new CliError(printable`${lock} exists: another process changes the keys. Try again.`);
      });
      try {
        const note = "The keys are unchanged.";
        await writeWholeFile(path, printKeys(edit((await read()) ?? [])), { failureNote: note });
      } finally {
        await rm(lock);
      }
    },
    close: async () => {},
  };
}

/** Reads the keys, and reads them again each second. @throws an error for people if they are wrong. */
export async function openLiveKeys(
  address: string,
  warn: (warningLine: string) => void,
  reloadMs = 1000, // a change is seen within two seconds
) {
  const keyStore = await openKeyStore(address);
  let currentKeys = await keyStore.read();
  let lastProblem = "";
  if ((currentKeys ?? []).length === 0)
    warn("ROUTER_KEYS: no key yet; evaluator-router keys add makes one.\n");
  const storeName = isDatabaseUrl(address) ? IN_POSTGRES : address;
  const missingText = printable`Cannot read ${storeName}: nothing is there. Restore it; [] revokes all keys.`;
  /** After an error the old keys stay, and the error is printed once. */
  async function reload(): Promise<void> {
    try {
      const readKeys = await keyStore.read();
      if (readKeys === null && currentKeys !== null) throw new CliError(missingText);
      [currentKeys, lastProblem] = [readKeys, ""];
    } catch (error) {
      const message = error instanceof Error ? error.message : "The keys cannot be read.";
      if (message !== lastProblem) warn(`${message} The router goes on with the old keys.\n`);
      lastProblem = message;
    }
  }
  const reloadTimer = setInterval(() => void reload(), reloadMs).unref();
  return {
    current: () => currentKeys ?? [],
    reload,
    close() {
      clearInterval(reloadTimer);
      return keyStore.close();
    },
  };
}

/** Parses the text of a store; null if it is missing. @throws CliError with the store, the line and the field, without a value. */
export function parseKeys(keysText: string | null, storeName: string): Keys | null {
  if (keysText === null) return null;
  const failAt = (offset: number, problem: string): never => {
    const lineNumber = keysText.slice(0, offset).split("\n").length;
    throw new CliError(printable`${storeName}:${String(lineNumber)} ${problem}.`);
  };
  const errors: ParseError[] = [];
  const root = parseTree(keysText, errors, { disallowComments: true, allowEmptyContent: false });
  if (root === undefined || errors[0] !== undefined)
    return failAt(errors[0]?.offset ?? 0, "is not JSON here");
  const { data, error } = listOf(storedKeySchema).safeParse(JSON.parse(keysText));
  if (data !== undefined) return data;
  const path = (error.issues[0]?.path ?? []) as (string | number)[];
  const fieldNode = findNodeAtLocation(root, path) ?? findNodeAtLocation(root, path.slice(0, 1));
  return failAt((fieldNode ?? root).offset, describeIssue(error));
}

/** Returns the text of a store, which {@link parseKeys} reads. */
export function printKeys(keys: readonly StoredKey[]): string {
  return `${JSON.stringify(keys, (_, value: unknown) => value ?? undefined, 2)}\n`;
}
