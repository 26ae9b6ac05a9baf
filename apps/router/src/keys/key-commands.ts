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
  const withStore = async <TResult>(use: (store: Store) => Promise<TResult>) => {
    const store = await openKeyStore(address);
    return use(store).finally(store.close);
  };
  const read = async () => (await withStore((store) => store.read())) ?? [];
  const print = (json: unknown, text: string, isJson = false) =>
    stdout.write(`${isJson ? JSON.stringify(json) : text}\n`);
  const [dollars, count] = [decimal(), wholeNumber({ minimum: 1 })];
  program
    .command("add <name>")
    .description("Add a key, and print its token, which is kept nowhere.")
    .option("--budget <name>", "a budget that keys share; the limits of the last add hold (NAME)")
    .option("--usd-per-day <n>", "limit of the budget for a day (UTC)", dollars)
    .option("--usd-per-month <n>", "limit of the budget for a month (UTC)", dollars)
    .option("--requests-per-minute <n>", "limit of this key", count)
    .option("--tokens-per-minute <n>", "limit of this key", count)
    .option("--tiers <list>", "tiers that it may use, such as nano,fast", toList)
    .option("--models <list>", "models that it may use, such as acme/x", toList)
    .option("--decisions", "it may ask decision models its own questions", true)
    .option("--no-decisions", "it may not")
    .option("--expires <date>", "not valid from then on, such as 2027-01-31")
    .option("--json", "print JSON")
    .action(async (name, { json, ...options }) => {
      const token = `rk_${randomBytes(32).toString("base64url")}`;
      const decisions = options.decisions ? null : false;
      const key = toKey({ budget: name, ...options, decisions, name, sha256: toHash(token) });
      await withStore((store) => store.change((keys) => added(keys, key)));
      if (options.budget !== undefined && !(await read()).some(isLimited(options.budget)))
        stderr.write(
          printable`The budget ${options.budget} has no limit. Add a key with --usd-per-day or --usd-per-month.\n`,
        );
      if (env["ROUTER_KEYS"] === undefined)
        stderr.write(
          printable`The router asks for keys only with ROUTER_KEYS=${resolve(DEFAULT_FILE)}\n`,
        );
      print({ name, token, budget: key.budget, expires: key.expires }, token, json);
    });
  program
    .command("list")
    .description("List the keys with their limits.")
    .option("--json", "print JSON")
    .action(async ({ json }) => {
      const keys = (await read()).map(withoutHash);
      print(keys, keys.map(toLine).join("\n") || "There is no key.", json);
    });
  program
    .command("revoke <name>")
    .description("Revoke a key.")
    .option("--json", "print JSON")
    .action(async (name, { json }) => {
      await withStore((store) => store.change((keys) => without(keys, name)));
      print({ revoked: name }, `The key ${name} is revoked.`, json);
    });
  program
    .command("spend")
    .description("Print what each budget has spent in this day and month (UTC).")
    .option("--json", "print JSON")
    .action(async ({ json }) => {
      const { decisionLog, blind } = parseRouterOptions(env);
      // Without ROUTER_KEYS, a router keeps the spending of blind comparisons beside its log.
      const ofBlind = env["ROUTER_KEYS"] === undefined ? (decisionLog ?? address) : address;
      const rows = [
        ...(await readSpending(await read(), address)),
        ...(blind.share === 0 ? [] : await readSpending([blindKey(blind.usdPerDay)], ofBlind)),
      ];
      const lines = rows.map(
        (row) => `${row.budget}: $${row.dayUsd} today, $${row.monthUsd} this month`,
      );
      print(rows, lines.join("\n") || "No key has a budget.", json);
    });
}

function isLimited(name: string) {
  return (key: StoredKey) => key.budget === name && hasBudget(key);
}

/** Returns a key's line of the list: its name, its budget, and the limits that it has. */
function toLine({ name, budget, ...limits }: Omit<StoredKey, "sha256">): string {
  const statedLimits = Object.entries(limits).filter(([, limit]) => limit !== null);
  return [`${name} (budget ${budget})`, ...statedLimits.map((one) => one.join(" "))].join("; ");
}

function toList(text: string): string[] {
  return text.split(",").map((word) => word.trim());
}

function toKey(fields: object): StoredKey {
  const { data, error } = storedKeySchema.safeParse(fields);
  if (data !== undefined && isValidAt(Date.now(), data)) return data;
  const problem = error ? describeIssue(error) : "expires is past; give a later date";
  throw new CliError(`The key was not added: ${problem}.`);
}

/** Adds a key. Its limits become those of its budget; without limits it gets those of the budget. */
function added(keys: Keys, key: StoredKey): Keys {
  if (keys.some(({ name }) => name === key.name)) {
    throw new CliError(`There is a key ${key.name} already. Choose another name, or revoke it.`);
  }
  const isOfBudget = ({ budget }: StoredKey) => budget === key.budget;
  const { usdPerDay, usdPerMonth } = hasBudget(key) ? key : (keys.find(isOfBudget) ?? key);
  const limits = { usdPerDay, usdPerMonth };
  return [...keys, key].map((each) => (isOfBudget(each) ? Object.assign(each, limits) : each));
}

function without(keys: Keys, name: string): Keys {
  const remainingKeys = keys.filter((key) => key.name !== name);
  if (remainingKeys.length < keys.length) return remainingKeys;
  throw new CliError("There is no key of this name. evaluator-router keys list lists them.");
}

/** Returns the spending of each budget with a limit. @throws CliError if the ledger cannot be used */
async function readSpending(keys: readonly (BudgetKey & { name: string })[], address: string) {
  const ledger = new Ledger(() => openLedger(address), { leaseMs: 0 });
  const budgets = Map.groupBy(keys.filter(hasBudget), ({ budget }) => budget);
  const rows = [...budgets.values()].map(async (users) => {
    const [key] = users as [(typeof users)[number]];
    const budget = describeBudget(key, await ledger.state(key));
    return Object.assign(budget, { keys: users.map(({ name }) => name) });
  });
  const donePromise = Promise.all(rows).finally(() => ledger.close());
  return donePromise.catch((cause: unknown) => {
    const problem = cause instanceof Error ? cause.message : "unknown error";
    throw new CliError(`The ledger of the budgets cannot be used: ${problem}.`, { cause });
  });
}
