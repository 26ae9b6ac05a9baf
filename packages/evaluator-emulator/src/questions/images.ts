import { createHash } from "node:crypto";
import { z } from "zod";

// The vendor's limit; the gateway's is unverified.
const maxImageBytes = 16 * 1024 * 1024;

const signatures: Readonly<Record<string, readonly Buffer[]>> = {
  png: [Buffer.from("\x89PNG\r\n\x1a\n", "latin1")],
  jpeg: [Buffer.of(0xff, 0xd8, 0xff)],
  webp: [Buffer.from("RIFF")],
  gif: [Buffer.from("GIF87a"), Buffer.from("GIF89a")],
};

/** Checks an image and returns its key, which differs between images; the pixels are not used. */
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

/** Parses an address or a `data:` URL into the image's key. */
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
