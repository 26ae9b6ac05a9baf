import { systemClock } from "evaluator-kit";
import { expect, test } from "vitest";
import { SqliteQuery } from "./sqlite-query.ts";

test("an error of Node is about memory too", async () => {
  const { signal } = new AbortController();
  await using query = new SqliteQuery({ signal, clock: systemClock });
  query.create([]);
  // Refused by Node instead of SQLite, as a text is that is too long.
  const asked = query.ask(7 as never, 10_000);
  await expect(asked).rejects.toThrow("The query needs over 512 MB. Ask for less.");
});
