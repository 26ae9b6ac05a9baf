import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { onTestFinished } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** A superuser's URL, or null if no PostgreSQL was found. */
    postgresUrl: string | null;
  }
}

/** Makes an empty database on a server for the length of a test, and returns its URL. */
export async function makeDatabase(serverUrl: string): Promise<string> {
  const { url, drop } = await createDatabase(serverUrl);
  onTestFinished(drop);
  return url;
}

/** Makes an empty database on a server; the caller drops it. */
export async function createDatabase(serverUrl: string) {
  const name = `evaluator_test_${randomUUID().replaceAll("-", "")}`;
  await runSql(serverUrl, `create database ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const drop = async () => void (await runSql(serverUrl, `drop database ${name} with (force)`));
  return { url: url.href, drop };
}

/** Runs statements on a new connection, and returns the rows of the last one. */
export async function runSql(url: string, ...statements: string[]): Promise<object[]> {
  const client = new Client({ connectionString: url, application_name: "admin" });
  client.on("error", () => {}); // a test may crash the server
  await client.connect();
  try {
    let rows: object[] = [];
    for (const statement of statements) ({ rows } = await client.query<object>(statement));
    return rows;
  } finally {
    await client.end();
  }
}
