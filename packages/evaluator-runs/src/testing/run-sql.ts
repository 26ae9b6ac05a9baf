import { Client } from "pg";

/** Runs statements on a connection of their own, and returns the rows of the last one. */
export async function runSql(url: string, ...statements: string[]): Promise<object[]> {
  const client = new Client({ connectionString: url, application_name: "admin" });
  await client.connect();
  try {
    let rows: object[] = [];
    for (const statement of statements) ({ rows } = await client.query<object>(statement));
    return rows;
  } finally {
    await client.end();
  }
}
