import { expect, test } from "vitest";
import { onePixel } from "../testing/one-pixel.ts";
import { findImageSize } from "./image-size.ts";
import { image, type ImageData, toImageData } from "./state.ts";

const ascii = (text: string) => [...Buffer.from(text, "latin1")];
const riff = [...ascii("RIFF"), 0, 0, 0, 0, ...ascii("WEBP")];
/** A segment of metadata before the frame, as cameras write it. */
const exif = [0xff, 0xe1, 0x01, 0x00, ...Array.from({ length: 254 }, () => 0xff)];
const table = [0xff, 0xc4, 0, 4, 9, 9];
const frame = [0xff, 0xc2, 0, 17, 8, 0x07, 0xd0, 0x0b, 0xb8, 3];

test.each<[string, readonly number[], object | null]>([
  ["PNG", [...onePixel], { width: 1, height: 1 }],
  ["GIF", [...ascii("GIF89a"), 0xb8, 0x0b, 0xd0, 0x07], { width: 3000, height: 2000 }],
  ["JPEG", [0xff, 0xd8, ...exif, ...table, 0xff, ...frame], { width: 3000, height: 2000 }],
  ["JPEG without a frame", [0xff, 0xd8, 0xff, 0xe0, 0, 2, 0, 0], null],
  ["JPEG that ends", [0xff, 0xd8, 0xff, 0xe0, 0, 16], null],
  [
    "extended WebP",
    [...riff, ...ascii("VP8X"), 10, 0, 0, 0, 0, 0, 0, 0, 0xb7, 0x0b, 0, 0xcf, 0x07, 0],
    { width: 3000, height: 2000 },
  ],
  [
    "lossy WebP",
    [...riff, ...ascii("VP8 "), 0, 0, 0, 0, 0, 0, 0, 0x9d, 1, 0x2a, 0xb8, 0x0b, 0xd0, 0x07],
    { width: 3000, height: 2000 },
  ],
  [
    "lossless WebP",
    [...riff, ...ascii("VP8L"), 0, 0, 0, 0, 0x2f, 0xb7, 0xcb, 0xf3, 0x01],
    { width: 3000, height: 2000 },
  ],
])("reads the size of %s", (_, bytes, size) => {
  expect(findImageSize(toImageData(image(Uint8Array.from(bytes))) as ImageData)).toEqual(size);
});
