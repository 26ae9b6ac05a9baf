import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createEmulator } from "evaluator-emulator";
import { Pool } from "pg";
import { afterAll, expect, inject, onTestFinished, test } from "vitest";
import { makeDatabase } from "../src/testing/make-database.ts";

const postgresUrl = inject("postgresUrl");
const admin = new Pool({ connectionString: postgresUrl ?? "", max: 1 });
admin.on("error", () => {});
afterAll(() => admin.end());

const router = join(import.meta.dirname, "../../../apps/router/src/main.ts");

/** Starts the router's program, and returns where it listens and what it prints. */
async function startRouter(env: Record<string, string>) {
  const child: ChildProcess = spawn(process.execPath, [router], {
    env: {
      PORT: "0",
      AI_GATEWAY_API_KEY: "a-planted-key",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const printed: string[] = [];
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill();
    await ended;
  });
  const started = Promise.withResolvers<string>();
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface({ input: stream }).on("line", (line) => {
      printed.push(line);
      const origin = /^The router is at (\S+)/.exec(line)?.[1];
      if (origin !== undefined) started.resolve(origin);
    });
  }
  return { child, ended, printed, origin: started.promise };
}

async function decide(origin: string): Promise<number> {
  const headers = { "content-type": "application/json" };
  const body = '{"message":"hi"}';
  const response = await fetch(`${origin}/decide`, { method: "POST", headers, body });
  await response.text();
  return response.status;
}

test.skipIf(postgresUrl === null)(
  "two routers keep to one key's limit, and a cut database stops neither",
  async () => {
    const url = await makeDatabase(postgresUrl ?? "");
    const emulator = createEmulator();
    onTestFinished(() => emulator.close());
    const { gatewayBaseUrl } = await emulator.listen();
    const env = { EVALUATOR_BASE_URL: gatewayBaseUrl, ROUTER_LIMITS: url };
    const routers = await Promise.all([startRouter(env), startRouter(env)]);
    const origins = await Promise.all(routers.map(({ origin }) => origin));
    expect(await Promise.all(origins.map(decide))).toEqual([200, 200]);
    const inside = new Pool({ connectionString: url, max: 1 });
    const { rows } = await inside.query(
      "select (select count(*) from jsonb_object_keys(state->'members'))::int as members from evaluator.limits",
    );
    await inside.end();
    expect(rows).toEqual([{ members: 2 }]);
    const name = new URL(url).pathname.slice(1);
    await admin.query(`alter database ${name} allow_connections false`);
    await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [
      name,
    ]);
    expect(await Promise.all(origins.map(decide))).toEqual([200, 200]);
    const output = routers.flatMap(({ printed }) => printed).join("\n");
    expect(output).not.toContain(name);
  },
);

test("a database that cannot be read as one ends the start, and its address is not printed", async () => {
  const { printed, ended } = await startRouter({
    ROUTER_LIMITS: "postgres://u:dont-tell@127.0.0.1/x?sslmode=verify-full&sslrootcert=/nowhere",
  });
  const [code] = (await ended) as [number];
  expect(code).toBe(1);
  expect(printed.join("\n")).toMatch(/ROUTER_LIMITS: The connection to PostgreSQL is malformed/);
  expect(printed.join("\n")).not.toContain("dont-tell");
});
