import { expect, test } from "vitest";
import { parseMailboxUrl, refusePasswords } from "./mailbox-url.ts";

test.each([
  ["imaps://ada@imap.example.com/INBOX", ["ada", "imap.example.com", 993, "INBOX", true]],
  [
    "imaps://ada%40example.com@imap.example.com:1993/Gr%C3%BC%C3%9Fe%20%3F/a+b",
    ["ada@example.com", "imap.example.com", 1993, "Grüße ?/a+b", true],
  ],
  [
    "IMAPS://ada@example.com@Imap.Example.com/%5BGmail%5D/All%20Mail",
    ["ada@example.com", "imap.example.com", 993, "[Gmail]/All Mail", true],
  ],
  ["imap://a%3Ab@127.0.0.1:1143/INBOX", ["a:b", "127.0.0.1", 1143, "INBOX", false]],
  ["imap://ada@[::1]/INBOX", ["ada", "::1", 143, "INBOX", false]],
])("the URL %s is parsed", (url, [user, host, port, folder, isSecure]) => {
  expect(parseMailboxUrl(url)).toMatchObject({ user, host, port, folder, isSecure });
});

test("the account is a URL that parses to itself with another folder", () => {
  const { account } = parseMailboxUrl("imaps://ada%40a.example@b.example:1993/INBOX");
  expect(account).toBe("imaps://ada%40a.example@b.example:1993");
  expect(parseMailboxUrl(`${account}/${encodeURIComponent("a/b c")}`)).toMatchObject({
    account,
    folder: "a/b c",
  });
});

test.each([
  ["imaps://ada:hunter2@b.example/INBOX", "instead of a password in the URL"],
  ["imaps://ada:hunter2/x@b.example/INBOX", "instead of a password in the URL"],
  ["imaps://a@b:hunter2@c.example/INBOX", "instead of a password in the URL"],
  ["imap://ada@b.example/INBOX", "imap:// to b.example has no TLS"],
  ["imaps://b.example/INBOX", "has no user"],
  ["imaps://ada@b.example", "has no folder"],
  ["imaps://ada@b.example/", "has no folder"],
  ["imaps://ada@/INBOX", "is not valid"],
  ["imaps://ada@b.example/a?b", "has a ? or #"],
  ["imaps://ada@b.example/a%0D%0Ab", "control character"],
  ["imaps://ada@b.example/a%b", "broken %"],
  ["imaps://ada@b.example/a%FF", "broken %"],
])("the URL %s is refused: %s", (url, problem) => {
  expect(() => parseMailboxUrl(url)).toThrow(problem);
  expect(() => parseMailboxUrl(url)).not.toThrow("hunter2");
});

test("a password is found in any word, and not in a URL without one", () => {
  expect(() => refusePasswords(["run", "--journal=imaps://a:hunter2@b"])).toThrow(
    "instead of a password in the URL",
  );
  expect(() => refusePasswords(["imaps://ada@b.example:993/x:y@z", "a:b@c"])).not.toThrow();
});
