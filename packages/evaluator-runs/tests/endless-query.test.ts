import { describe, expect, test } from "vitest";
import { endlessQueries, startQuery } from "../src/testing/start-query.ts";
import { folderWith, startTicketProgram } from "../src/testing/tickets/start-tickets.ts";
import { manyTickets } from "../src/testing/tickets/ticket-source.ts";

/** Makes a folder with tickets, answered by the emulator. */
async function answeredInbox(): Promise<string> {
  const cwd = await folderWith(manyTickets(42));
  const { exitCode, stderr } = await startTicketProgram(["inbox.json", "--offline"], {
    cwd,
    env: {},
  }).ended;
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining("Wrote 42")]);
  return cwd;
}

const endings = [
  ["--timeout", 1, "The query took over 3 seconds. Ask for less, or set --timeout.\n"],
  ["SIGINT", 130, "Interrupted.\n"],
  ["SIGTERM", 143, "Interrupted.\n"],
  ["SIGKILL", null, ""],
] as const;

describe.skipIf(process.platform !== "linux")("a query that does not end", () => {
  test.each(Object.keys(endlessQueries))("%s is ended by time and by signals", async (name) => {
    const cwd = await answeredInbox();
    for (const [ending, exitCode, stderr] of endings) {
      const limit = ending === "--timeout" ? ["--timeout", "3"] : [];
      const query = await startQuery(cwd, [endlessQueries[name] ?? "", ...limit]);
      // On a busy machine its time may end before it was busy for a while.
      if (ending !== "--timeout") {
        await query.busyProcess();
        query.child.kill(ending);
      }
      expect(await query.ended).toEqual({ exitCode, stderr });
      await expect.poll(() => query.rest()).toEqual({ processes: [], files: [] });
    }
  });
});
