import PostalMime from "postal-mime";
import { expect, test, vi } from "vitest";
import { parseMessage } from "./parse-message.ts";

const KIB = 1024;
const head = "From: Ada <a@b.example>\nSubject: s\n";
const multipart = `${head}Content-Type: multipart/mixed; boundary=b\n`;
const image = "--b\nContent-Type: image/png\nContent-Disposition: attachment; filename=a.png\n\n";

/** Returns what a mail is read as, and what of it the parser was given. */
async function parse(message: string) {
  const given = vi.spyOn(PostalMime.prototype, "parse");
  const { text, from, subject, extra } = await parseMessage(Buffer.from(message));
  const parsed = Buffer.from(given.mock.lastCall?.[0] as Uint8Array).toString();
  given.mockRestore();
  return { text, from, subject, attachments: extra.attachments.map(({ name }) => name), parsed };
}

const line = `${"word ".repeat(14)}\n`;
const long = line.repeat(KIB);

test("the start of each part is parsed, cut at a line end, and no part is lost", async () => {
  const parts = `${multipart}\n--b\n\n${long}${image}${long}--b\n\nlast words\n--b--\n`;
  const mail = await parse(parts);
  expect(mail).toMatchObject({ from: "Ada <a@b.example>", subject: "s", attachments: ["a.png"] });
  expect(mail.text).toMatch(/^word .*word\nlast words$/s);
  const bodies = mail.parsed.split("--b").slice(1, 3);
  expect(bodies.map((body) => body.length <= 64 * KIB && body.length > 63 * KIB)).toEqual([
    true,
    true,
  ]);
  expect(bodies.map((body) => body.endsWith(line))).toEqual([true, true]);
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
])("of a megabyte of %s no more lines are parsed than a mail has", async (_, message) => {
  const { subject, parsed } = await parse(message);
  expect(subject).toBe("s");
  expect(parsed.split("\n").length).toBeLessThanOrEqual(32 * KIB + 1);
});

test("a mail of few bytes is parsed as it is", async () => {
  const message = `${head}\n${"x\n".repeat(30 * KIB)}`;
  expect((await parse(message)).parsed).toBe(message);
});
