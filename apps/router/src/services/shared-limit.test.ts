import { type LimitStore, memoryLimits } from "evaluator-client";
import { createEmulator } from "evaluator-emulator";
import { DatabaseError } from "evaluator-runs/postgres";
import { expect, onTestFinished, test } from "vitest";
import type { MessageRecord } from "../records/message-record.ts";
import { parseRouterOptions } from "../router-options.ts";
import { plantedKey } from "../testing/keep-output.ts";
import { startTestRouter } from "../testing/test-router.ts";
import { connectServices } from "./connect-services.ts";
import { openSharedLimit } from "./shared-limit.ts";

const url = "postgres://worker:dont-tell-this@127.0.0.1:1/limits";
const disposable = (store: LimitStore) => ({ ...store, [Symbol.asyncDispose]: async () => {} });

/** A store in this process that tells whose leases it gave. */
function recordingStore() {
  const store = memoryLimits();
  const asked: { key: string; members: readonly string[] }[] = [];
  const swap: LimitStore["swap"] = async (key, version, row) => {
    asked.push({ key, members: Object.keys(row.members) });
    return await store.swap(key, version, row);
  };
  return { asked, store: { ...store, swap } };
}

async function startGateway(): Promise<string> {
  const emulator = createEmulator();
  onTestFinished(() => emulator.close());
  return (await emulator.listen()).gatewayBaseUrl;
}

interface Instance {
  readonly name: string;
  readonly gateway: string;
  readonly open: () => Promise<LimitStore & AsyncDisposable>;
}

/** A router that takes its turns from a store, and answers one message. */
async function startInstance({ name, gateway, open }: Instance) {
  const env = {
    AI_GATEWAY_API_KEY: plantedKey,
    EVALUATOR_BASE_URL: gateway,
    ROUTER_LIMITS: url,
    ROUTER_REQUESTS_PER_MINUTE: "60000",
  };
  const options = parseRouterOptions(env);
  const { sharedLimit } = options;
  if (sharedLimit === null) throw new Error("There is no shared limit.");
  const warned: string[] = [];
  const warn = (line: string) => void warned.push(line);
  const services = connectServices(options, {
    sharedLimit: await openSharedLimit(sharedLimit, warn, open),
  });
  const records: MessageRecord[] = [];
  const observe = (record: MessageRecord) => void records.push(record);
  const router = await startTestRouter({}, { env, services, instance: name, observe });
  const decide = async () => {
    const headers = { "content-type": "application/json" };
    const body = '{"message":"hi"}';
    return (await fetch(`${router.origin}/decide`, { method: "POST", headers, body })).status;
  };
  return { decide, records, warned, services };
}

test("two routers take their turns from one store, and the log says which of them answered", async () => {
  const { asked, store } = recordingStore();
  const gateway = await startGateway();
  const open = async () => disposable(store);
  const one = await startInstance({ name: "one", gateway, open });
  const two = await startInstance({ name: "two", gateway, open });
  expect([await one.decide(), await two.decide()]).toEqual([200, 200]);
  const [first, second] = asked;
  expect(first?.key).toBe(second?.key);
  expect(first?.key).toMatch(/^[0-9a-f]{64}$/); // a hash: the key stands nowhere
  expect([first?.members.length, second?.members.length]).toEqual([1, 2]);
  expect([...one.records, ...two.records].map(({ instance }) => instance)).toEqual(["one", "two"]);
});

test("a store that is down at the start, and one that goes away, stop no message", async () => {
  const { store, asked } = recordingStore();
  const gateway = await startGateway();
  let isUp = false;
  const failure = () =>
    new DatabaseError("PostgreSQL cannot be reached.", { failure: "unreachable" });
  const open = async () => {
    if (!isUp) throw failure();
    return disposable({
      ...store,
      read: (key) => (isUp ? store.read(key) : Promise.reject(failure())),
    });
  };
  const { decide, warned } = await startInstance({ name: "one", gateway, open });
  expect(await decide()).toBe(200);
  expect(asked).toEqual([]);
  expect(warned).toEqual([
    "ROUTER_LIMITS: PostgreSQL cannot be reached. This router goes on with its own share of the limit until it can.\n",
  ]);
  isUp = true;
  expect(await decide()).toBe(200);
  const other = await startInstance({ name: "two", gateway, open });
  isUp = false;
  const warningsLater = async () => {
    expect(await other.decide()).toBe(200);
    return other.warned;
  };
  await expect
    .poll(warningsLater)
    .toEqual([
      "ROUTER_LIMITS: PostgreSQL cannot be reached. This router goes on with its own share of the limit until it can.\n",
    ]);
  isUp = true;
  await expect
    .poll(warningsLater, { timeout: 5000 })
    .toContain("ROUTER_LIMITS: the database answers again; the limit is shared.\n");
});

test.each(["unreachable", "full", "read-only"] as const)(
  "a store that is back (%s) before the first message is reported, and so is its next loss",
  async (failure) => {
    const { store } = recordingStore();
    const gateway = await startGateway();
    let problem: Error | null = new DatabaseError("It is down.", { failure });
    const open = async () => {
      if (problem !== null) throw problem;
      const read: LimitStore["read"] = async (key) => {
        if (problem !== null) throw problem;
        return await store.read(key);
      };
      return disposable({ ...store, read });
    };
    const { decide, warned } = await startInstance({ name: "one", gateway, open });
    problem = null;
    expect(await decide()).toBe(200);
    problem = new DatabaseError("It is full.", { failure: "full" });
    const warnings = async () => {
      await decide();
      return warned;
    };
    const lost = "This router goes on with its own share of the limit until it can.\n";
    await expect
      .poll(warnings)
      .toEqual([
        `ROUTER_LIMITS: It is down. ${lost}`,
        "ROUTER_LIMITS: the database answers again; the limit is shared.\n",
        `ROUTER_LIMITS: It is full. ${lost}`,
      ]);
  },
);

test.each([
  ["denied", "PostgreSQL refused this user."],
  ["newer-schema", "Upgrade this one."],
] as const)("a start ends at what no waiting would help (%s)", async (failure, message) => {
  const open = () => Promise.reject(new DatabaseError(message, { failure }));
  const opened = openSharedLimit({ url, requestsPerMinute: null }, () => {}, open);
  await expect(opened).rejects.toThrow(`ROUTER_LIMITS: ${message}`);
});

test("nothing that fails tells the database's address", async () => {
  const problem = "connect to postgres://worker:dont-tell-this@127.0.0.1:1/limits failed";
  const open = () => Promise.reject(new TypeError(problem));
  const opened = openSharedLimit({ url, requestsPerMinute: null }, () => {}, open);
  await expect(opened).rejects.toThrow(/^ROUTER_LIMITS: The package .* failed \(TypeError\)\.$/);
  expect(() => parseRouterOptions({ ROUTER_LIMITS: "mysql://worker:dont-tell-this@db" })).toThrow(
    /^ROUTER_LIMITS is not the address of a PostgreSQL database/,
  );
  const { secrets } = parseRouterOptions({ ROUTER_LIMITS: url }).engines;
  expect(secrets).toEqual([url, url.slice(0, url.indexOf("@") + 1), "dont-tell-this"]);
});
