import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import {
  type CliContext,
  CliError,
  type Command,
  decimal,
  printable,
  wholeNumber,
} from "evaluator-kit";
import { describeIssue } from "../config/router-config.ts";
import { openLedger } from "./key-database.ts";
import { openKeyStore } from "./key-store.ts";
import { Ledger } from "./ledger.ts";
import { isValidAt, toHash, type StoredKey, storedKeySchema, withoutHash } from "./router-key.ts";
import { parseRouterOptions } from "../router-options.ts";
import { blindKey, type BudgetKey, describeBudget, hasBudget } from "./budget-state.ts";

type Keys = readonly StoredKey[];

const DEFAULT_FILE = "router-keys.json";

/** Adds `add`, `list`, `revoke` and `spend` to the command `keys`. */
export function addKeyCommands(program: Command, context: CliContext): void {
  const { env, stdout, stderr } = context;
  const address = env["ROUTER_KEYS"] ?? DEFAULT_FILE;
  type Store = Awaited<ReturnType<typeof openKeyStore>>;
  const withStore = async <TResult>(useStore: (keyStore: Store) => Promise<TResult>) => {
    const keyStore = await openKeyStore(address);
    return useStore(keyStore).finally(keyStore.close);
  };
  const readKeys = async () => (await withStore((keyStore) => keyStore.read())) ?? [];
  const printResult = (jsonResult: unknown, plainText: string, isJson = false) =>
    stdout.write(`${isJson ? JSON.stringify(jsonResult) : plainText}\n`);
  const [dollars, callLimit] = [decimal(), wholeNumber({ minimum: 1 })];
  program
    .command("add <name>")
    .description("Add a key, and print its token, which is kept nowhere.")
    .option("--budget <name>", "a budget that keys share; the limits of the last add hold (NAME)")
    .option("--usd-per-day <n>", "limit of the budget for a day (UTC)", dollars)
    .option("--usd-per-month <n>", "limit of the budget for a month (UTC)", dollars)
    .option("--requests-per-minute <n>", "limit of this key", callLimit)
    .option("--tokens-per-minute <n>", "limit of this key", callLimit)
    .option("--tiers <list>", "tiers that it may use, such as nano,fast", toList)
    .option("--models <list>", "models that it may use, such as acme/x", toList)
    .option("--decisions", "it may ask decision models its own questions", true)
    .option("--no-decisions", "it may not")
    .option("--expires <date>", "not valid from then on, such as 2027-01-31")
    .option("--json", "print JSON")
    .action(async (name, { json, ...options }) => {
      const token = `rk_${randomBytes(32).toString("base64url")}`;
      const decisions = options.decisions ? null : false;
      const newKey = toKey({ budget: name, ...options, decisions, name, sha256: toHash(token) });
      await withStore((keyStore) => keyStore.change((storedKeys) => added(storedKeys, newKey)));
      if (options.budget !== undefined && !(await readKeys()).some(isLimited(options.budget)))
        stderr.write(
          printable`The budget ${options.budget} has no limit. Add a key with --usd-per-day or --usd-per-month.\n`,
        );
      if (env["ROUTER_KEYS"] === undefined)
        stderr.write(
          printable`The router asks for keys only with ROUTER_KEYS=${resolve(DEFAULT_FILE)}\n`,
        );
      printResult({ name, token, budget: newKey.budget, expires: newKey.expires }, token, json);
    });
  program
    .command("list")
    .description("List the keys with their limits.")
    .option("--json", "print JSON")
    .action(async ({ json }) => {
      const listedKeys = (await readKeys()).map(withoutHash);
      printResult(listedKeys, listedKeys.map(toLine).join("\n") || "There is no key.", json);
    });
  program
    .command("revoke <name>")
    .description("Revoke a key.")
    .option("--json", "print JSON")
    .action(async (name, { json }) => {
      await withStore((keyStore) => keyStore.change((storedKeys) => without(storedKeys, name)));
      printResult({ revoked: name }, `The key ${name} is revoked.`, json);
    });
  program
    .command("spend")
    .description("Print what each budget has spent in this day and month (UTC).")
    .option("--json", "print JSON")
    .action(async ({ json }) => {
      const { decisionLog, blind } = parseRouterOptions(env);
      // Without ROUTER_KEYS, a router keeps the spending of blind comparisons beside its log.
      const blindAddress = env["ROUTER_KEYS"] === undefined ? (decisionLog ?? address) : address;
      const budgetRows = [
        ...(await readSpending(await readKeys(), address)),
        ...(blind.share === 0 ? [] : await readSpending([blindKey(blind.usdPerDay)], blindAddress)),
      ];
      const budgetLines = budgetRows.map(
        (row) => `${row.budget}: $${row.dayUsd} today, $${row.monthUsd} this month`,
      );
      printResult(budgetRows, budgetLines.join("\n") || "No key has a budget.", json);
    });
}

function isLimited(budgetName: string) {
  return (storedKey: StoredKey) => storedKey.budget === budgetName && hasBudget(storedKey);
}

/** Returns a key's line of the list: its name, its budget, and the limits that it has. */
function toLine({ name, budget, ...keyLimits }: Omit<StoredKey, "sha256">): string {
  const statedLimits = Object.entries(keyLimits).filter(([, limitValue]) => limitValue !== null);
  return [`${name} (budget ${budget})`, ...statedLimits.map((one) => one.join(" "))].join("; ");
}

function toList(listText: string): string[] {
  return listText.split(",").map((listedWord) => listedWord.trim());
}

function toKey(keyFields: object): StoredKey {
  const { data, error } = storedKeySchema.safeParse(keyFields);
  if (data !== undefined && isValidAt(Date.now(), data)) return data;
  const problem = error ? describeIssue(error) : "expires is past; give a later date";
  throw new CliError(`The key was not added: ${problem}.`);
}

/** Adds a key. Its limits become those of its budget; without limits it gets those of the budget. */
function added(keys: Keys, newKey: StoredKey): Keys {
  if (keys.some(({ name }) => name === newKey.name)) {
    throw new CliError(`There is a key ${newKey.name} already. Choose another name, or revoke it.`);
  }
  const isOfBudget = ({ budget }: StoredKey) => budget === newKey.budget;
  const { usdPerDay, usdPerMonth } = hasBudget(newKey) ? newKey : (keys.find(isOfBudget) ?? newKey);
  const limits = { usdPerDay, usdPerMonth };
  return [...keys, newKey].map((each) => (isOfBudget(each) ? Object.assign(each, limits) : each));
}

function without(storedKeys: Keys, keyName: string): Keys {
  const remainingKeys = storedKeys.filter((storedKey) => storedKey.name !== keyName);
  if (remainingKeys.length < storedKeys.length) return remainingKeys;
  throw new CliError("There is no key of this name. evaluator-router keys list lists them.");
}

/** Returns the spending of each budget with a limit. @throws CliError if the ledger cannot be used */
async function readSpending(keys: readonly (BudgetKey & { name: string })[], address: string) {
  const ledger = new Ledger(() => openLedger(address), { leaseMs: 0 });
  const budgets = Map.groupBy(keys.filter(hasBudget), ({ budget }) => budget);
  const budgetRows = [...budgets.values()].map(async (keysOfBudget) => {
    const [firstKey] = keysOfBudget as [(typeof keysOfBudget)[number]];
    const budgetFigures = describeBudget(firstKey, await ledger.state(firstKey));
    return Object.assign(budgetFigures, { keys: keysOfBudget.map(({ name }) => name) });
  });
  const donePromise = Promise.all(budgetRows).finally(() => ledger.close());
  return donePromise.catch((cause: unknown) => {
    const problem = cause instanceof Error ? cause.message : "unknown error";
    throw new CliError(`The ledger of the budgets cannot be used: ${problem}.`, { cause });
  });
}
