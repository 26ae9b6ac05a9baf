import { createHash } from "node:crypto";
import { z } from "zod";

/** What every image comes to in tokens: the vendor's bill for its smallest, 280 × 280 pixels (unverified). */
export const imageTokens = 200;

// The vendor's limit, which stands for the gateway's as well (unverified).
const maxImageBytes = 16 * 1024 * 1024;

const signatures: Readonly<Record<string, readonly Buffer[]>> = {
  png: [Buffer.from("\x89PNG\r\n\x1a\n", "latin1")],
  jpeg: [Buffer.of(0xff, 0xd8, 0xff)],
  webp: [Buffer.from("RIFF")],
  gif: [Buffer.from("GIF87a"), Buffer.from("GIF89a")],
};

/** The bytes of an image on their way to its key, which tells it from others; nobody here looks at it. */
export const imageSchema = z
  .object({ format: z.string(), base64: z.string() })
  .transform(({ format, base64 }, context): string => {
    const bytes = Buffer.from(base64, "base64");
    const problem = problemOf(bytes, { format, base64 });
    if (problem !== null) context.addIssue({ code: "custom", message: problem });
    return keyOf(bytes);
  });

function problemOf(
  bytes: Buffer,
  { format, base64 }: { format: string; base64: string },
): string | null {
  if (bytes.toString("base64") !== base64) return "expected standard base64";
  if (bytes.length > maxImageBytes) return `expected at most ${maxImageBytes} bytes of an image`;
  const starts = signatures[format];
  if (starts === undefined) return "expected an image of the format png, jpeg, webp or gif";
  const isOne = starts.some((start) => bytes.subarray(0, start.length).equals(start));
  return isOne ? null : `expected the bytes of an image of the format ${format}`;
}

/** Returns the schema of an image at a `data:` URL or an address, which gives its key. */
export const imageUrlSchema = z.union([
  z
    .string()
    .regex(/^https?:\/\/./)
    .transform(keyOf),
  z
    .string()
    .regex(/^data:image\/\w+;base64,/, "expected an address, or a data: URL of an image in base64")
    .transform((url) => {
      const [head = ""] = url.split(",", 1);
      return { format: head.slice(11, -7), base64: url.slice(head.length + 1) };
    })
    .pipe(imageSchema),
]);

function keyOf(bytesOrAddress: Buffer | string): string {
  return createHash("sha256").update(bytesOrAddress).digest("hex");
}
