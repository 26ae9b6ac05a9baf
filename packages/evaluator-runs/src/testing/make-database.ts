import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { onTestFinished } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** A superuser's URL, or null where no PostgreSQL was found. */
    postgresUrl: string | null;
  }
}

/** Makes an empty database on a server for the length of a test, and returns its URL. */
export async function makeDatabase(serverUrl: string): Promise<string> {
  const name = `evaluator_test_${randomUUID().replaceAll("-", "")}`;
  const admin = new Client(serverUrl);
  // A test may crash the server.
  admin.on("error", () => {});
  await admin.connect();
  await admin.query(`create database ${name}`);
  await admin.end();
  onTestFinished(async () => {
    const last = new Client(serverUrl);
    await last.connect();
    await last.query(`drop database ${name} with (force)`);
    await last.end();
  });
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
