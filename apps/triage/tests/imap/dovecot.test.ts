import { expect, inject, test } from "vitest";
import { signIn } from "./mailbox-of.ts";
import { runDoveadm } from "./start-dovecot.ts";
import { startProxy } from "../../src/testing/start-proxy.ts";

const server = inject("dovecot");

test("has the extensions that triage uses, and mails in folders with a special use", async () => {
  const client = await signIn(server, "ada");
  const words = [...client.capabilities.keys()];
  expect(words).toEqual(
    expect.arrayContaining(["CONDSTORE", "QRESYNC", "UIDPLUS", "MOVE", "IDLE"]),
  );
  const folders = await client.list();
  expect(folders.map(({ path, specialUse }) => [path, specialUse])).toEqual([
    ["INBOX", "\\Inbox"],
    ["Archive", "\\Archive"],
    ["Junk", "\\Junk"],
  ]);
  await client.append("INBOX", "Subject: hello\r\n\r\nhello\r\n", ["\\Seen", "mine"]);
  await client.logout();
  const found = await runDoveadm(server, "fetch", "-u", "ada", "flags", "all");
  expect(found).toMatch(/\\Seen .*mine/);
});

test("a proxy hides extensions and reports each command", async () => {
  const commands: string[] = [];
  await using proxy = await startProxy(server.port, {
    without: ["QRESYNC", "MOVE"],
    onCommand: (line) => void commands.push(line),
  });
  const client = await signIn({ ...server, port: proxy.port }, "ada");
  expect(client.capabilities.has("MOVE")).toBe(false);
  expect(client.capabilities.has("UIDPLUS")).toBe(true);
  await client.logout();
  expect(commands.at(-1)).toMatch(/ LOGOUT$/);
});
