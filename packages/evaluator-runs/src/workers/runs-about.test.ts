import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sampleTicket } from "../testing/tickets/ticket-source.ts";
import { folderWith, ticketMachines } from "../testing/tickets/start-tickets.ts";

const { start } = ticketMachines();

test("each command takes the file of a run in a database, as in a folder of journals", async () => {
  const cwd = await folderWith([sampleTicket({ id: "m-1", subject: "In the inbox" })]);
  const outbox = [sampleTicket({ id: "m-1", subject: "In the outbox" })];
  await writeFile(join(cwd, "outbox.json"), JSON.stringify(outbox));
  for (const file of ["inbox.json", "outbox.json"]) await start([file], { cwd });
  const printed = async (...words: string[]) => (await start(words, { cwd })).stdout;
  expect(JSON.parse(await printed("export", "inbox.json"))).toMatchObject([
    { subject: "In the inbox" },
  ]);
  expect(await printed("explain", "m-1", "inbox.json")).toContain("In the inbox");
  expect(await printed("explain", "m-1")).toContain("In the outbox");
  expect(await printed("status", "inbox.json")).toMatch(/inbox/);
  expect(await printed("status", "inbox.json")).not.toMatch(/outbox/);
  const subjects = "select subject from tickets";
  expect(await printed("query", subjects, "inbox.json", "--allow-superuser")).toBe(
    "subject\nIn the inbox\n",
  );
  expect((await start(["work", "inbox.json"], { cwd })).stderr).toContain("No run is open.\n");
  const missing = await start(["export", "none.json"], { cwd });
  expect(missing.stderr).toBe("This journal has no run about none.json; start one first.\n");
});
