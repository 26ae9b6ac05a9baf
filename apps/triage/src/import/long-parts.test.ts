import { expect, test } from "vitest";
import { parseMessage } from "./parse-message.ts";

const KIB = 1024;
const head = "From: Ada <a@b.example>\nSubject: s\n";
const multipart = `${head}Content-Type: multipart/mixed; boundary=b\n`;
const image = "--b\nContent-Type: image/png\nContent-Disposition: attachment; filename=a.png\n\n";

async function parse(message: string) {
  const { text, from, subject, extra } = await parseMessage(Buffer.from(message));
  return { text, from, subject, attachments: extra.attachments.map(({ name }) => name) };
}

const line = `${"word ".repeat(14)}\n`;
const long = line.repeat(KIB);

test("the start of each part is read, cut at a line end, and no part is lost", async () => {
  const parts = `${multipart}\n--b\n\n${long}${image}${long}--b\n\nlast words\n--b--\n`;
  const mail = await parse(parts);
  expect(mail).toMatchObject({ from: "Ada <a@b.example>", subject: "s", attachments: ["a.png"] });
  const [, first = ""] = /^(.*)\nlast words$/s.exec(mail.text) ?? [];
  expect(`${first} \n`.endsWith(line)).toBe(true);
  expect(first.length).toBeGreaterThan(63 * KIB);
  expect(first.length).toBeLessThanOrEqual(64 * KIB);
});

test("of a text in base64 that is cut no letter is wrong", async () => {
  const body = Buffer.from("Grüße ".repeat(20 * KIB)).toString("base64");
  const encoding = "Content-Transfer-Encoding: base64\n\n";
  for (const text of [body, body.replace(/.{76}/g, "$&\n")]) {
    expect((await parse(`${head}${encoding}${text}`)).text).toMatch(
      /^(?:Grüße ){5000,}G?r?ü?\ufffd?ß?e?$/,
    );
  }
});

test("a body that is empty, and one without a line end, are read", async () => {
  expect((await parse(`${multipart}\n--b`)).text).toBe("");
  expect((await parse(`${multipart}\n--b\n`)).text).toBe("");
  expect((await parse(`${multipart}\n--b\n\n-- \nwords`)).text).toBe("-- \nwords");
});

test("a line longer than any is cut, and the part after it is none of it", async () => {
  const page = `Content-Type: text/html\n\n<html>\n${"<p>Hi</p>".repeat(20_000)}\n`;
  const { text, attachments } = await parse(`${multipart}\n--b\n${page}${image}x\n--b--\n`);
  expect(text).toMatch(/^Hi Hi/);
  expect(attachments).toEqual(["a.png"]);
});

test("a header longer than a part is read whole", async () => {
  const to = `To: ${"someone@example.com,\n ".repeat(6000)}x@example.com\n`;
  expect(await parse(`${to}${head}\nHi`)).toMatchObject({ subject: "s", text: "Hi" });
});

test.each([
  ["lines of two bytes", `${head}\n${"x\n".repeat(512 * KIB)}`],
  ["lines that look like boundaries", `${head}\n${"--\n".repeat(340 * KIB)}`],
  ["parts of one line", `${multipart}\n${"--b\n\nx\n".repeat(150 * KIB)}`],
])("a megabyte of %s is read", async (_, message) => {
  expect((await parse(message)).subject).toBe("s");
});

test("no more boundaries are read than a mail has", async () => {
  const parts = `${image}\n`.repeat(20 * KIB);
  const { attachments } = await parse(`${multipart}\n${parts}--b--\n`);
  expect(attachments.length).toBeGreaterThan(5 * KIB);
  expect(attachments.length).toBeLessThan(10 * KIB);
});
