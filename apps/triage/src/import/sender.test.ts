import { expect, test } from "vitest";
import { senderIn } from "./sender.ts";

test.each([
  ["Ada <ada@x.example>", "Ada <ada@x.example>"],
  ["Doe, Jane <jane@x.example>", "Doe, Jane <jane@x.example>"],
  ['"Doe, Jane" <jane@x.example>', "Doe, Jane <jane@x.example>"],
  ["=?utf-8?Q?Doe,_Jane?= <jane@x.example>", "Doe, Jane <jane@x.example>"],
  [
    "=?utf-8?B?QmFuayA8aGVscEBiYW5rLmV4YW1wbGU+?= <eve@x.example>",
    "Bank <help@bank.example> <eve@x.example>",
  ],
  ["Bank, <eve@x.example>", "Bank <eve@x.example>"],
  ["Team: jane@x.example, bo@x.example;", "Team <jane@x.example>"],
  ["Team: Jane <jane@x.example>;", "Jane <jane@x.example>"],
  ["undisclosed recipients:;", "undisclosed recipients"],
  ["mailto:jane@x.example", "jane@x.example"],
  ["Jane <mailto:jane@x.example>", "Jane <jane@x.example>"],
  ['"Jane" <jane@x.example>:<eve@x.example>', "Jane <jane@x.example> <eve@x.example>"],
  ["Jane [at work] <sales> <jane@x.example>", "Jane [at work] <sales> <jane@x.example>"],
  ["<<jane@x.example>>", "jane@x.example"],
  ["jane@x.example (Jane Doe)", "Jane Doe <jane@x.example>"],
  ["jane@x.example, bo@x.example", "jane@x.example"],
  ["ceo@bank.example <eve@x.example>", "ceo@bank.example <eve@x.example>"],
  [
    "ceo@bank.example =?utf-8?Q?(the_boss)?= <eve@x.example>",
    "ceo@bank.example (the boss) <eve@x.example>",
  ],
  ['"jane@x.example"', "jane@x.example"],
  ['"Jane <jane@x.example>', '"Jane <jane@x.example>'],
  ["Jane <jane@x.example", "Jane <jane@x.example>"],
  ["Jane <@relay.example,@b.example:jane@x.example>", "Jane <jane@x.example>"],
  ["Jane <jane @ x.example>", "Jane <jane@x.example>"],
  ['"Jane \\"J\\" Doe" <jane@x.example>', 'Jane "J" Doe <jane@x.example>'],
  ["jane@x.example <jane@x.example>", "jane@x.example"],
  ["ada at x.example (Ada Example)", "Ada Example <ada@x.example>"],
  ["ada at x.example", "ada@x.example"],
  ["MAILER-DAEMON (Mail Delivery System)", "MAILER-DAEMON (Mail Delivery System)"],
  ["'Jane' <'jane@x.example'>", "'Jane' <jane@x.example>"],
  ["Jane <mailto:jane@x.example?subject=Hello>", "Jane <jane@x.example>"],
  ["Jane [mailto:jane@x.example]", "Jane <jane@x.example>"],
  ['"Jane Doe" [SMTP:jane@x.example]', "Jane Doe <jane@x.example>"],
  ["Jane &lt;jane@x.example&gt;", "Jane <jane@x.example>"],
  ["bounces-jane=x.example@list.example", "bounces-jane=x.example@list.example"],
  ["Bank <>", "Bank"],
  ["", ""],
])("%j is from %j", (header, sender) => {
  expect(senderIn(header)).toBe(sender);
});

test("an address may have letters of every script (RFC 6532)", () => {
  const header = Buffer.from("Jäne <jäne@bücher.example>").toString("latin1");
  expect(senderIn(header)).toBe("Jäne <jäne@bücher.example>");
});

test("raw bytes of a name are in the charset of the mail", () => {
  expect(senderIn("\xc1\xc4\xc1 <ada@x.example>", "koi8-r")).toBe("ада <ada@x.example>");
});
