import { expect, inject, test } from "vitest";
import { ImapFlow } from "imapflow";
import { runDoveadm } from "./start-dovecot.ts";
import { startProxy } from "./start-proxy.ts";

const { password, ...server } = inject("dovecot");

async function connect(port: number): Promise<ImapFlow> {
  const auth = { user: "ada", pass: password };
  const client = new ImapFlow({
    host: "127.0.0.1",
    port,
    secure: false,
    auth,
    logger: false,
    doSTARTTLS: false,
  });
  await client.connect();
  return client;
}

test("has the extensions that triage uses, and mails in folders with a special use", async () => {
  const client = await connect(server.port);
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
  const found = await runDoveadm({ password, ...server }, "fetch", "-u", "ada", "flags", "all");
  expect(found).toMatch(/\\Seen .*mine/);
});

test("a proxy hides extensions and reports each command", async () => {
  const commands: string[] = [];
  await using proxy = await startProxy(server.port, {
    without: ["QRESYNC", "MOVE"],
    onCommand: (line) => void commands.push(line),
  });
  const client = await connect(proxy.port);
  expect(client.capabilities.has("MOVE")).toBe(false);
  expect(client.capabilities.has("UIDPLUS")).toBe(true);
  await client.logout();
  expect(commands.at(-1)).toMatch(/ LOGOUT$/);
});
