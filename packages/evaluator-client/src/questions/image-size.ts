/** A file format of images. */
export type ImageFormat = "png" | "jpeg" | "webp" | "gif";

interface EncodedImage {
  readonly format: ImageFormat;
  readonly base64: string;
}

interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Returns the size of an image in pixels, or null if its first bytes do not contain it. */
export function findImageSize({ format, base64 }: EncodedImage): ImageSize | null {
  try {
    const bytes = Uint8Array.from(atob(base64.slice(0, HEAD)), (character) =>
      character.charCodeAt(0),
    );
    return readers[format](new DataView(bytes.buffer));
  } catch {
    return null; // the bytes end too early, or are not base64
  }
}

// Metadata of a JPEG in front of its size has up to 64 KiB for each segment.
const HEAD = 4 * 128 * 1024;

const readers: Readonly<Record<ImageFormat, (head: DataView) => ImageSize | null>> = {
  png: (head) => ({ width: head.getUint32(16), height: head.getUint32(20) }),
  gif: (head) => ({ width: head.getUint16(6, true), height: head.getUint16(8, true) }),
  webp(head) {
    const kind = head.getUint8(15);
    if (kind === 0x58) return { width: 1 + threeBytes(head, 24), height: 1 + threeBytes(head, 27) };
    if (kind === 0x20) {
      return {
        width: head.getUint16(26, true) & LOW_14,
        height: head.getUint16(28, true) & LOW_14,
      };
    }
    const bits = head.getUint32(21, true);
    return { width: 1 + (bits & LOW_14), height: 1 + ((bits >> 14) & LOW_14) };
  },
  jpeg(head) {
    for (let at = 2; ;) {
      const marker = head.getUint16(at);
      if (marker < 0xff00) return null;
      if (marker === 0xffff) at += 1;
      else if (marker >= 0xffc0 && marker <= 0xffcf && !otherSegments.has(marker)) {
        return { width: head.getUint16(at + 7), height: head.getUint16(at + 5) };
      } else at += 2 + head.getUint16(at + 2);
    }
  },
};

const LOW_14 = 0x3fff;
/** Tables and a reserved marker, among the markers that begin a frame. */
const otherSegments = new Set([0xffc4, 0xffc8, 0xffcc]);

function threeBytes(head: DataView, at: number): number {
  return head.getUint16(at, true) + (head.getUint8(at + 2) << 16);
}
