import { expect, test } from "vitest";
import { dateHeader, importedMail } from "../testing/import-of.ts";

const headersOf = async (...lines: string[]) =>
  (await importedMail([...lines, dateHeader, "From: ada@example.com", "", "Hi."].join("\n")))
    ?.headers;
const received = "Received: from a.example (by evil.example) by mx.home.example with ESMTP; x";

test("a record keeps the headers that the list needs", async () => {
  expect(
    await headersOf(
      "Message-ID: <c@x.example>",
      "References: <a@x.example>\n <b@x.example>",
      "In-Reply-To: <other@x.example>",
      "Reply-To: Ada <Ada@Elsewhere.example>, b@x.example",
      "List-Unsubscribe: <mailto:out@x.example>,\n <https://x.example/out?u=1>",
      "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
      received,
      "Authentication-Results: in.home.example; spf=pass (a; b) smtp.mailfrom=x; dkim=fail; DKIM=Pass; dmarc=fail",
    ),
  ).toEqual({
    messageId: "c@x.example",
    references: ["a@x.example", "b@x.example"],
    replyTo: "ada@elsewhere.example",
    unsubscribe: "https://x.example/out?u=1",
    oneClick: true,
    checks: { spf: "pass", dkim: "pass", dmarc: "fail" },
  });
  expect(await headersOf("In-Reply-To: <a@x.example> <b@x.example>")).toEqual({
    references: ["a@x.example"],
  });
  expect(await headersOf()).toBeUndefined();
});

test("ids and links that a program encoded as words are decoded, a name in Reply-To later", async () => {
  expect(
    await headersOf(
      "References: =?us-ascii?Q?<a@x?=\n =?us-ascii?Q?.example>_<b@x.example>?=",
      "List-Unsubscribe: =?utf-8?q?=3Chttps=3A//x=2Eexample/out=3Fu=3D1=3E=2C?=\n <mailto:out@x.example>",
      "Reply-To: =?utf-8?q?=3Ceve=40x=2Eexample=3E?= <ada@x.example>",
    ),
  ).toEqual({
    references: ["a@x.example", "b@x.example"],
    unsubscribe: "https://x.example/out?u=1",
    replyTo: "ada@x.example",
  });
  expect(await headersOf("In-Reply-To: =?utf-8?q?=3Ca=40x=2Eexample=3E?=")).toEqual({
    references: ["a@x.example"],
  });
});

test("results that another host than the receiving one wrote are not kept", async () => {
  const forged = "Authentication-Results: mx.google.com; dmarc=pass";
  expect(await headersOf(forged)).toBeUndefined();
  expect(await headersOf(received, forged)).toBeUndefined();
  const inner = "Received: by 2002:a05:6402:1 with SMTP id x; y\nReceived: by mx.google.com; x";
  expect(await headersOf(inner, forged)).toEqual({ checks: { dmarc: "pass" } });
  const exchange = "Received: from a by AM1.eurprd01.prod.outlook.com with x; y";
  const nameless = "Authentication-Results: spf=pass (x) smtp.mailfrom=y; dkim=none";
  expect(await headersOf(exchange, nameless)).toEqual({ checks: { spf: "pass", dkim: "none" } });
  expect(await headersOf(received, nameless)).toBeUndefined();
});

test("several results of the receiving host are read together, the last one first", async () => {
  const results = (server: string, found: string) => `Authentication-Results: ${server}; ${found}`;
  const [spf, dkim] = [
    results("in.home.example", "spf=fail; dkim=pass"),
    results("in.home.example", "dkim=none; dmarc=pass"),
  ];
  const checks = { spf: "fail", dkim: "pass", dmarc: "pass" };
  expect(await headersOf(spf, dkim, received)).toEqual({ checks });
  expect(await headersOf(spf, "X-Spam: no", "Received-SPF: fail", dkim, received)).toEqual({
    checks,
  });
  // Below the host, or of another one: the sender may have written them.
  expect(await headersOf(spf, received, dkim)).toEqual({ checks: { spf: "fail", dkim: "pass" } });
  const other = results("evil.example", "dmarc=pass");
  expect(await headersOf(spf, other, received)).toEqual({ checks: { spf: "fail", dkim: "pass" } });
});

test("links of other schemes are not offered", async () => {
  const link = async (header: string) => headersOf(`List-Unsubscribe: ${header}`);
  expect(await link("<javascript:alert(1)>, <http://x.example/out>")).toBeUndefined();
  expect(await link("<mailto:out@x.example>")).toEqual({ unsubscribe: "mailto:out@x.example" });
  expect(await link("https://x.example/no-brackets")).toBeUndefined();
});

test("one click needs a page, and the value of RFC 8058", async () => {
  const [page, mail] = ["<https://x.example/out>", "<mailto:out@x.example>"];
  const headers = async (link: string, value: string) =>
    await headersOf(`List-Unsubscribe: ${link}`, `List-Unsubscribe-Post: ${value}`);
  expect(await headers(page, "List-Unsubscribe=One-Click")).toHaveProperty("oneClick", true);
  expect(await headers(page, "List-Unsubscribe=Two-Clicks")).not.toHaveProperty("oneClick");
  expect(await headers(mail, "List-Unsubscribe=One-Click")).not.toHaveProperty("oneClick");
});

test("a header of 10,000 references keeps the first and the last ones", async () => {
  const ids = Array.from({ length: 10_000 }, (_, at) => `<${at}@x.example>`);
  const headers = await headersOf(`References: ${ids.join("\n ")}`);
  expect(headers?.references).toHaveLength(21);
  expect(headers?.references?.[0]).toBe("0@x.example");
  expect(headers?.references?.at(-1)).toBe("9999@x.example");
});
