import { expect, test } from "vitest";
import { importOf, mbox } from "../testing/import-of.ts";

const part = (headers: string, text: string) => `--b\n${headers}\n\n${text}\n`;

test("attachments, List-Id and what was checked of the sender are kept, safe to print", async () => {
  const message = [
    "Authentication-Results: mx.example.com (a \u0007gateway);",
    " dkim=pass header.i=@shop.example header.s=k1 header.b=AbC;",
    " spf=pass (domain of x designates 192.0.2.1) smtp.mailfrom=shop.example",
    "Authentication-Results: mx.evil.example; dmarc=pass",
    "List-Id: =?utf-8?q?Caf=C3=A9_=E2=80=AEnews?= <news.shop.example>",
    "From: ada@example.com\nDate: Mon, 02 Nov 2026 09:00:00 +0000",
    'Content-Type: multipart/mixed; boundary="b"\n',
    part("Content-Type: text/plain", "Hello."),
    part(
      'Content-Type: application/PDF\nContent-Disposition: attachment; filename="order 4111 1111 1111 1111.pdf"',
      "%PDF",
    ),
    part('Content-Type: image/png\nContent-Disposition: inline; filename="logo.png"', "x"),
    "--b--",
  ].join("\n");
  const { mails } = await importOf({ "a.mbox": mbox(message, "From: bo@example.com\n\nPlain.") });
  expect(mails?.[0]).toMatchObject({
    attachments: [{ name: "order .pdf", type: "application/pdf" }],
    list_id: "Café news <news.shop.example>",
    authentication_results:
      "mx.example.com; dkim=pass header.i=@shop.example; spf=pass smtp.mailfrom=shop.example",
  });
  expect(Object.keys(mails?.[1] ?? {})).toEqual("id date from subject snippet source".split(" "));
});

test("a dump of the Gmail API has them in its parts and headers", async () => {
  const headers = [
    { name: "List-ID", value: "<team.example.com>" },
    { name: "Subject", value: "s" },
  ];
  const pdf = { filename: "cv.pdf", mimeType: "application/pdf" };
  const parts = [{ filename: "", parts: [pdf] }, { mimeType: "text/html" }];
  const { mails } = await importOf({
    "dump.json": JSON.stringify([{ id: "1", internalDate: "0", payload: { headers, parts } }]),
  });
  expect(mails?.[0]).toMatchObject({
    attachments: [{ name: "cv.pdf", type: "application/pdf" }],
    list_id: "<team.example.com>",
  });
});
