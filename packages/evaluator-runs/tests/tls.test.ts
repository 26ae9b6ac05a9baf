import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import { startOwnServer } from "evaluator-kit/postgres-server";
import { temporaryFolder } from "evaluator-kit/testing";
import { type Connection, migrate, postgresLimits, postgresRuns } from "evaluator-runs/postgres";
import { Client } from "pg";
import { expect, inject, onTestFinished, test } from "vitest";
import { selfSignedCertificate } from "evaluator-kit";

test.skipIf(inject("postgresUrl") === null)(
  "TLS as pg has it: by the URL or by options, and no other server than the one it names",
  async () => {
    const [own, other] = [selfSignedCertificate(), selfSignedCertificate()];
    const server = await startOwnServer({ tls: own });
    if (server === null) return;
    onTestFinished(() => server.stop());
    const folder = await temporaryFolder();
    const [ca, wrongCa] = [join(folder, "ca.pem"), join(folder, "wrong-ca.pem")];
    await writeFile(ca, own.cert);
    await writeFile(wrongCa, other.cert);
    const urlWith = (file: string) => `${server.url}?sslmode=verify-full&sslrootcert=${file}`;
    await migrate(server.url);

    for (const connection of [
      urlWith(ca),
      { connectionString: server.url, ssl: { ca: own.cert } },
    ] satisfies Connection[]) {
      await using store = await postgresLimits(connection);
      expect((await store.read("team-a")).row).not.toBeNull();
      await using runs = await postgresRuns(connection);
      expect(await runs.list()).toEqual([]);
      expect(await plainConnections(server.url)).toBe(0);
    }

    for (const connection of [
      urlWith(wrongCa),
      { connectionString: server.url, ssl: { ca: other.cert } },
      { connectionString: server.url, ssl: true },
    ] satisfies Connection[]) {
      for (const open of [postgresLimits, postgresRuns]) {
        const error = await open(connection).catch((thrown: unknown) => thrown);
        expect(error).toMatchObject({ failure: "certificate" });
        expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(server.url);
      }
    }
    await rm(ca);
    await expect(postgresLimits(urlWith(ca))).rejects.toMatchObject({
      failure: "connection-options",
    });
  },
);

/** How many connections of ours are without TLS; of the one that asks, too. */
async function plainConnections(url: string): Promise<number> {
  const client = new Client({ connectionString: url, application_name: "admin" });
  await client.connect();
  const { rows } = await client.query<{ plain: number }>(
    `select count(*)::int as plain from pg_stat_ssl join pg_stat_activity using (pid)
     where not ssl and application_name = 'evaluator'`,
  );
  await client.end();
  return rows[0]?.plain ?? -1;
}
