import { expect, test } from "vitest";
import { sampleMail } from "./testing/samples.ts";
import { folderWith, startTriage } from "./testing/start-triage.ts";

test("a query can ask for the address of a sender alone", async () => {
  const cwd = await folderWith([sampleMail({ from: "Bo <Bo@example.com>" })]);
  await startTriage(["inbox.json"], { cwd });
  const { stdout } = await startTriage(["query", "select sender, address from mails"], { cwd });
  expect(stdout).toBe("sender,address\nBo <Bo@example.com>,bo@example.com\n");
});
