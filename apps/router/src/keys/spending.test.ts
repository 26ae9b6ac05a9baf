import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { runHere } from "../testing/start-program.ts";
import { openLedger } from "./key-database.ts";
import { Ledger } from "./ledger.ts";

test("spend lists each budget with its keys, amounts and limits", async () => {
  const path = join(await temporaryFolder(), "router-keys.json");
  const run = (words: string) => runHere("keys", { ROUTER_KEYS: path }, words.split(" "));
  await run("add alice --budget team --usd-per-day 1 --usd-per-month 20");
  await run("add bob --budget team");
  await run("add free");
  const ledger = new Ledger(() => openLedger(path), { leaseMs: 60_000 });
  const key = { budget: "team", usdPerDay: 1, usdPerMonth: 20 };
  const [first, second] = [await ledger.reserve(key, [4e8]), await ledger.reserve(key, [5e8])];
  if (first.held !== null) await ledger.settle(key, first.held, 1.25e8);
  expect(second.room.nano).toBe(1e8);
  await ledger.close();
  const { code, stdout } = await run("spend --json");
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual([
    {
      budget: "team",
      keys: ["alice", "bob"],
      dayUsd: 0.125,
      monthUsd: 0.125,
      reservedUsd: 0.5,
      limitDayUsd: 1,
      limitMonthUsd: 20,
      remainingUsd: 0.375,
      isNear: false,
      requests: 2,
      resetAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT00:00:00.000Z$/),
    },
  ]);
  expect((await run("spend")).stdout).toBe("team: $0.125 today, $0.125 this month\n");
});

test("without a key and without a budget, list and spend say so", async () => {
  const path = join(await temporaryFolder(), "router-keys.json");
  const run = (words: string) => runHere("keys", { ROUTER_KEYS: path }, words.split(" "));
  expect((await run("list")).stdout).toBe("There is no key.\n");
  await run("add free");
  expect((await run("spend")).stdout).toBe("No key has a budget.\n");
});

test.each([
  ["of the keys", { ROUTER_KEYS: "keys.json", ROUTER_DECISION_LOG: "log.jsonl" }, "keys.json"],
  ["beside the log", { ROUTER_DECISION_LOG: "log.jsonl" }, "log.jsonl"],
])("spend lists the blind comparisons, in the ledger %s", async (_, names, kept) => {
  const folder = await temporaryFolder();
  const paths = Object.entries(names).map(([name, file]) => [name, join(folder, file)]);
  const blind = { ROUTER_BLIND_SHARE: "0.02", ROUTER_BLIND_USD_PER_DAY: "3" };
  const ledger = new Ledger(() => openLedger(join(folder, kept)), { leaseMs: 60_000 });
  const key = { budget: "blind", usdPerDay: 3, usdPerMonth: null };
  const { held } = await ledger.reserve(key, [5e8]);
  if (held !== null) await ledger.settle(key, held, 2.5e8);
  await ledger.close();
  const env = { ...Object.fromEntries(paths), ...blind };
  const rows = JSON.parse((await runHere("keys", env, ["spend", "--json"])).stdout) as object[];
  const row = { budget: "blind", keys: ["blind"], dayUsd: 0.25, limitDayUsd: 3, requests: 1 };
  expect(rows).toMatchObject([row]);
});

test("a ledger that cannot be opened is an error for people", async () => {
  const path = join(await temporaryFolder(), "keys");
  const run = (words: string) => runHere("keys", { ROUTER_KEYS: path }, words.split(" "));
  await run("add alice --usd-per-day 1");
  await mkdir(`${path}.spend.sqlite`);
  const { code, stderr } = await run("spend");
  expect(code).toBe(1);
  expect(stderr).toContain(
    "The ledger of the budgets cannot be used: unable to open database file.",
  );
});
